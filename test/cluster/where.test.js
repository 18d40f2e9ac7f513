'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { setImmediate: turn } = require('node:timers/promises')
const { Worker } = require('node:worker_threads')
const { checkPort } = require('../../cluster/port')
const { read } = require('../../cluster/settings')
const { KONE, project, scratch } = require('../command/project')
const { freePort } = require('../helpers/ports')
const share = require('../helpers/share')
const { SHAPES, make, until } = require('./instance')

/** Linux has the whole net of it. */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

/** The status, or the code of the error. */
function ask (target) {
  return new Promise(resolve => {
    http.get({ ...target, path: '/echo?id=1', agent: false }, res => {
      res.resume().once('end', () => resolve(res.statusCode))
    }).once('error', err => resolve(err.code))
  })
}

/** Tries to connect 300 times, and says how often it could. */
const CLIENT = `
  const { parentPort, workerData: port } = require('node:worker_threads')
  const { connect } = require('node:net')
  let [tries, accepted] = [0, 0]
  ;(function next () {
    if (tries++ === 300) return parentPort.postMessage(accepted)
    const socket = connect(port, '127.0.0.1', () => { accepted++; socket.destroy() }).on('error', () => {}).once('close', next)
  })()`

/** A socket whose process was killed. */
async function leaveStale (file) {
  const child = spawn(process.execPath, ['-e', `require('node:net').createServer().listen('${file}', () => console.log())`])
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert(fs.lstatSync(file).isSocket())
}

const refused = async (instance, message) => {
  const { code, lines } = await instance.run(instance.app)
  assert.deepEqual([code, lines.length], [1, 1], lines.join('\n'))
  assert.match(lines[0], message)
}

describe('where an app listens', { skip: process.platform === 'win32' && 'pipes have no folder' }, () => {
  for (const cluster of ['node', 'pm2']) {
    it(`should be a Unix socket with ${cluster}: a stale one is replaced, a live one an error, also beside a reload`, async t => {
      const instance = await make(t, cluster)
      const file = path.join(instance.folder, 'app.sock')
      Object.assign(instance.env, { PORT: './app.sock', KONE_SOCKET_MODE: '0660' }) // of the folder where the command is given
      instance.port = file
      instance.write(SHAPES[cluster === 'node' ? 'app' : 'listens'])

      fs.writeFileSync(file, 'text')
      await refused(instance, /^kone: \S+app\.sock is not a Unix socket: set PORT to another path, or remove it/)
      fs.rmSync(file)
      const live = net.createServer(socket => socket.destroy()).listen(file)
      await once(live, 'listening')
      await refused(instance, /^kone: \S+app\.sock is in use: end what listens there, or set PORT/)
      live.close()
      await leaveStale(file)

      await instance.start()
      assert.equal(await ask({ socketPath: file }), 200)
      assert.equal((fs.statSync(file).mode & 0o777).toString(8), '660')
      const old = await instance.workers()
      assert.equal(old.length, 2)
      await refused(instance, /^kone: \S+app\.sock is in use/)
      assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      assert.equal((await instance.workers()).filter(pid => old.includes(pid)).length, 0)
      assert.equal(await ask({ socketPath: file }), 200)
      assert.deepEqual(await instance.run('stop'), { code: 0, lines: [] })
      await until(() => !fs.existsSync(file))
      const { lines } = await instance.run('status')
      assert.match(lines[0], /^kone: nothing was started on \S+app\.sock: kone start <file> --port /)
    })
  }

  for (const cluster of share(['node'], ['node', 'pm2'])) {
    it(`should be the address that HOST names with ${cluster}, in each worker`, async t => {
      const instance = await make(t, cluster, { HOST })
      instance.write(SHAPES[cluster === 'node' ? 'listens' : 'server'])
      await instance.start()
      const { port } = instance
      for (let i = 0; i < 4; i++) assert.equal(await ask({ host: HOST, port }), 200)
      if (HOST !== '127.0.0.1') assert.equal(await ask({ host: '127.0.0.1', port }), 'ECONNREFUSED')
      assert.deepEqual(await instance.run('stop'), { code: 0, lines: [] })
    })
  }

  it('should be a Unix socket, or what HOST names, in kone dev, also when it starts again', async t => {
    const { folder, write } = project(scratch())
    const hi = "const app = module.exports = new (require('kone'))(); app.use(ctx => { ctx.body = 'hi' })"
    write('app.js', hi)
    const file = path.join(folder, 'dev.sock')
    await leaveStale(file)
    const port = await freePort()
    for (const [args, env, target, printed] of [
      [['--port', './dev.sock'], {}, { socketPath: file }, /^http on \S+\/dev\.sock$/m],
      [['--port', String(port)], { HOST }, { host: HOST, port }, new RegExp(`^http://(?:127\\.0\\.0\\.2|localhost):${port}$`, 'm')]
    ]) {
      const child = spawn(process.execPath, [KONE, 'dev', 'app.js', ...args], { cwd: folder, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } })
      t.after(() => child.kill())
      let text = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { text += chunk })
      await until(() => printed.test(text))
      assert.equal(await ask(target), 200)
      text = ''
      write('app.js', `${hi} // changed`)
      await until(() => printed.test(text))
      assert.equal(await ask(target), 200)
      if (target.port && HOST !== '127.0.0.1') assert.equal(await ask({ host: '127.0.0.1', port }), 'ECONNREFUSED')
      child.kill('SIGINT')
      await once(child, 'exit')
    }
  })

  it('should accept no connection while it is checked, which a client of an app that starts would lose', async () => {
    const port = await freePort()
    const client = new Worker(CLIENT, { eval: true, workerData: port })
    const counted = []
    client.once('message', accepted => counted.push(accepted))
    for (; counted.length === 0; await turn()) await checkPort({ port })
    assert.deepEqual(counted, [0])
  })

  it('should be refused in one sentence when the variables contradict each other', () => {
    for (const [env, message] of [
      [{ PORT: 'app.sock' }, /^PORT must be a whole number from 1 to 65535 or the path of a Unix socket \(with a \/\), not 'app\.sock' \(/],
      [{ PORT: `/${'long'.repeat(30)}` }, /^PORT: \/long\S+ is longer than the \d+ bytes that the path of a socket may have/],
      [{ PORT: '/run/app.sock', HOST: 'localhost' }, /^HOST is for a port, but PORT is the path of a Unix socket, \/run\/app\.sock: leave one of them out/],
      [{ PORT: '/run/app.sock', KONE_REUSE_PORT: '1' }, /^KONE_REUSE_PORT (?:is for a port|needs Linux)/],
      [{ PORT: '80', KONE_SOCKET_MODE: '660' }, /^KONE_SOCKET_MODE is for a Unix socket, but PORT is 80/],
      [{ PORT: '/run/app.sock', KONE_SOCKET_MODE: 'rw' }, /^KONE_SOCKET_MODE must be octal digits, such as 660, not 'rw'/],
      [{ INSTANCES: 'many' }, /^INSTANCES must be a whole number from 1 to 1024, not 'many'/],
      [{ DRAIN_TIMEOUT: '-1' }, /^DRAIN_TIMEOUT must be a whole number from 0 .*not '-1'/],
      [{ KONE_CLUSTER: 'pm3' }, /^KONE_CLUSTER must be 'pm2' or 'node', not 'pm3'/],
      [{ KONE_REUSE_PORT: 'yes' }, /^KONE_REUSE_PORT must be 0 or 1, not 'yes'/],
      [{ KONE_REUSE_PORT: '1', KONE_CLUSTER: 'pm2' }, /^KONE_REUSE_PORT needs (?:KONE_CLUSTER=node|Linux)/]
    ]) assert.throws(() => read(env), { message })
    assert.equal(read({ PORT: './app.sock', KONE_SOCKET_MODE: '0600' }).port, path.resolve('app.sock'))
    assert.equal(read({ HOST: '1' }).host, '1')
  })
})
