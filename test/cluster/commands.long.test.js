'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { start } = require('../helpers/child')
const pause = require('../helpers/pause')
const { freePort, isTaken, onFreePort } = require('../helpers/ports')
const { BOTH, PM2, SHAPES, isAlive, make, until } = require('./instance')

const APP = path.join(__dirname, 'fixtures/app.js')

/** ms before a worker that has died is replaced for the first time. */
const FIRST_WAIT = 100

/** Its folders are made: no socket can be in the last one. */
const LONG = path.join(os.tmpdir(), `kone-${'long'.repeat(30)}`)
after(() => fs.rmSync(LONG, { recursive: true, force: true }))

const proc = { skip: fs.existsSync('/proc/self/environ') ? false : 'there is no /proc' }
const lines = res => res.text().then(text => text.split('\n').filter(Boolean))

/** The app must not start: one line, exit code 1, nobody left. */
async function refused (instance, expected) {
  let { code, lines } = await instance.run(instance.app)
  if (isTaken({ message: lines.join('\n') }) && !expected.test(lines[0])) { // by somebody else
    instance.move(await freePort());
    ({ code, lines } = await instance.run(instance.app))
  }
  assert.equal(lines.length, 1, lines.join('\n'))
  assert.match(lines[0], expected)
  assert.equal(code, 1)
  assert.deepEqual(instance.left(), [])
}

for (const cluster of ['node', 'pm2']) {
  describe(`node pm2.js with ${cluster}`, { concurrency: 2 }, () => {
    it('should start, tell its workers, reload the file, and stop when every request has its response', async t => {
      const instance = await make(t, cluster)
      instance.write(SHAPES.app, 1)
      await instance.start()
      const old = await instance.workers()
      assert.equal(old.length, 2)
      assert.ok(old.every(isAlive))
      assert.equal((await fetch(`${instance.url}/echo?id=1`)).headers.get('x-version'), '1')

      instance.write(SHAPES.server, 2)
      assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      assert.ok(!old.some(isAlive))
      assert.equal((await fetch(`${instance.url}/echo?id=2`)).headers.get('x-version'), '2')

      const answer = await fetch(`${instance.url}/stream?id=3`)
      const stopped = instance.run('stop')
      assert.equal((await lines(answer)).at(-1), '3.19')
      assert.deepEqual(await stopped, { code: 0, lines: [] })
      assert.deepEqual(instance.left(), [])
      if (instance.master) assert.equal((await instance.master.ended).code, 0)
      await assert.rejects(fetch(instance.url))

      const status = await instance.run('status')
      assert.deepEqual(status, { code: 1, lines: [`kone: nothing was started on port ${instance.port}: kone start <file> --port ${instance.port} (kone/docs/api/cluster.md)`] })
    })

    it('should touch no worker when the new app does not start', async t => {
      const instance = await make(t, cluster)
      instance.write(SHAPES.app)
      await instance.start()
      const workers = await instance.workers()

      for (const source of [
        "throw new Error('no bread')",
        "setTimeout(() => { throw new Error('no bread') }, 10)",
        "module.exports = Promise.reject(new Error('no\\nbread'))"
      ]) {
        instance.write(source)
        const { code, lines } = await instance.run('reload')
        assert.equal(lines.length, 1)
        assert.match(lines[0], /^kone: no bread \(\S*app\.js:\d+:\d+\)$/)
        assert.equal(code, 1)
      }
      assert.deepEqual(await instance.workers(), workers)
      assert.equal((await fetch(`${instance.url}/echo?id=1`)).status, 200)
    })

    it('should say in one line why an app does not start, and leave nobody', proc, async t => {
      const instance = await make(t, cluster)
      instance.write("throw new Error('no bread')")
      await refused(instance, /^kone: no bread \(\S*app\.js:3:7\)$/)
      instance.write("console.error('no key.pem'); process.exit(1)")
      await refused(instance, /^kone: no key\.pem$/)
      instance.write("require('node:fs').readFileSync('/no/key.pem')")
      await refused(instance, /^kone: ENOENT.*\/no\/key\.pem' \(\S*app\.js:3:20\)$/)

      const server = await onFreePort(async port => {
        instance.move(port)
        const server = net.createServer().listen(port)
        await once(server, 'listening')
        return server
      })
      instance.write(SHAPES.listens)
      await refused(instance, new RegExp(`^kone: port ${instance.port} is in use: .*cluster\\.md\\)$`))
      server.close()
    })

    it('should not start twice on one port', async t => {
      const instance = await make(t, cluster)
      instance.write(SHAPES.function)
      await instance.start()
      const workers = await instance.workers()
      const { code, lines } = await instance.run(instance.app)
      assert.equal(lines.length, 1)
      assert.match(lines[0], new RegExp(`port ${instance.port} is in use${cluster === 'node' ? ' by an instance of its own: reload or stop that one' : ''}`))
      assert.equal(code, 1)
      assert.deepEqual(await instance.workers(), workers)
    })
  })
}

describe('node pm2.js', { concurrency: 2 }, () => {
  // the environment, a command or the app's file, what was given, what is expected
  for (const [env, typed, ...parts] of [
    [{ PORT: '70000' }, SHAPES.app, 'PORT must be a whole number from 1 to 65535 or the path of a Unix socket (with a /), not 70000'],
    [{ KONE_CLUSTER: 'pm2', PM2_HOME: '/dev/null/pm2' }, SHAPES.app, 'pm2 cannot write to its folder', '/dev/null/pm2', 'set PM2_HOME'],
    [{ HOST: '192.0.2.1' }, SHAPES.app, 'cannot listen on port', 'HOST or --host must be a name or an address of this machine'],
    [{ TMPDIR: '/dev/null' }, SHAPES.app, '/dev/null', 'set TMPDIR to one that this user can write to (kone/docs/api/cluster.md)'],
    [{ TMPDIR: LONG }, SHAPES.app, 'that the path of a socket may have: set TMPDIR to a shorter one (kone/docs/api/cluster.md)'],
    [{ TMPDIR: LONG }, 'status', 'that the path of a socket may have: set TMPDIR to a shorter one (kone/docs/api/cluster.md)'],
    [{}, '', 'it exports neither an app nor a function nor a server', 'export an app, or listen there'],
    [{}, 'process.exit(3)', 'it ended with exit code 3 before it listened'],
    [{}, "console.log('no bread'); process.exit(3)", 'it ended with exit code 3 before it listened on port', ': no bread (kone/docs'],
    [{}, "module.exports = require('node:http').createServer().listen(3000)", 'the server that it exports listens on port 3000 already'],
    [{}, "require('node:cluster').fork()", 'it starts workers itself (cluster.fork), as kone start does'],
    [{}, "process.emitWarning('old'); setImmediate(() => process.exit(3))", 'it ended with exit code 3 before it listened'],
    ...['console.error(Object.assign(err, { code: 7 })); process.exit(1)', "console.error('stop:', err); process.exit(1)",
      "process.removeAllListeners('uncaughtException'); setImmediate(() => { throw Object.assign(err, { code: 7 }) })"
    ].map(ends => [{}, `const err = new Error('no\\nbread', { cause: new Error('no flour') }); ${ends}`, 'Error: no bread']),
    // beside a program of its own that keeps what it prints to open, until the command ends
    ...["throw new Error('no bread')", "console.error('no bread'); process.exit(1)"].map(ends => [{},
      `require('node:child_process').spawn('tail', ['--pid', process.ppid, '-f', '/dev/null'], { stdio: 'inherit' }); ${ends}`, 'no bread']),
    [{}, 'reload', 'nothing was started on port', 'kone start <file> --port'],
    [{}, 'stop', 'nothing was started on port', 'kone start <file> --port'],
    [{}, '--fast', 'unknown flag --fast', 'see kone start --help']
  ]) {
    const given = Object.entries(env).flat().join('=')
    it(`should refuse in one line: ${[given, typed === SHAPES.app ? 'an app' : typed || 'an empty file'].filter(Boolean).join(', ')}`, async t => {
      const instance = await make(t, 'node', env)
      const isCommand = /^[\w-]+$/.test(typed)
      if (!isCommand) instance.write(typed)
      const { code, lines } = await instance.run(isCommand ? typed : instance.app)
      assert.deepEqual([code, lines.length], [1, 1], lines.join('\n'))
      assert.match(lines[0], /^kone: /)
      for (const part of parts) assert(lines[0].includes(part), `no ${part} in: ${lines[0]}`)
    })
  }

  it('should say that somebody else has the port', async t => {
    const instance = await make(t, 'node')
    const server = net.createServer().listen(instance.port)
    t.after(() => server.close())
    await once(server, 'listening')
    const { code, lines } = await instance.run('stop')
    assert.deepEqual([code, lines.length], [1, 1])
    assert.match(lines[0], /^kone: something listens on port \d+, but this user has no socket of an instance there in TMPDIR \/.*: give the command as/)
  })

  it('should say whose the folder of the sockets is', { skip: process.platform === 'win32' && 'pipes have no folder' }, async t => {
    const instance = await make(t, 'node')
    const folder = path.join(instance.folder, `kone-${process.getuid()}`)
    fs.mkdirSync(folder)
    fs.chmodSync(folder, 0o755)
    const { code, lines } = await instance.run('status')
    assert.deepEqual([code, lines.length], [1, 1])
    assert.match(lines[0], /kone-\d+ must be a folder of user \d+ with mode 700, not one of user \d+ with mode 755/)
  })

  it('should take the flags of kone start', async t => {
    const instance = await make(t, 'node')
    instance.write(SHAPES.app)
    const { code, lines } = await instance.run('--instances', '0', instance.app)
    assert.deepEqual([code, lines.length], [1, 1])
    assert.match(lines[0], /INSTANCES must be a whole number from 1 to 1024, not 0/)
  })

  it('should serve the demo if no file is named', async t => {
    const { env, folder } = await make(t, 'node', { INSTANCES: '1' })
    const demo = await onFreePort(port => start([PM2], { ...env, PORT: String(port), DATA: folder }, folder))
    t.after(() => demo.stop())
    assert.match(demo.output(), /in 1 worker \(node:cluster/)
    assert.equal((await fetch(`${demo.url}/healthz`)).status, 200)
  })

  it('should serve ES modules, and a server that is promised', async t => {
    const instance = await make(t, 'node')
    instance.app += '.mjs'
    fs.writeFileSync(instance.app, 'export default (req, res) => res.end(import.meta.url)')
    await instance.start()
    assert.match(await (await fetch(instance.url)).text(), /app\.js\.mjs$/)
    fs.writeFileSync(instance.app, `import http from 'node:http'
      await null
      export default Promise.resolve(http.createServer((req, res) => res.end('promised')))`)
    assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
    assert.equal(await (await fetch(instance.url)).text(), 'promised')
  })
})

describe("node:cluster's master", { concurrency: 3 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'shutdown']) {
    it(`should respond to what is in flight and end on ${signal}`, async t => {
      const instance = await make(t, 'node')
      instance.write(SHAPES.listens)
      await instance.start()
      const answer = await fetch(`${instance.url}/stream?id=1`)
      if (signal === 'shutdown') instance.master.send('shutdown')
      else instance.master.kill(signal)
      assert.equal((await lines(answer)).at(-1), '1.19')
      assert.equal((await instance.master.ended).code, 0)
      assert.deepEqual(instance.left(), [])
    })
  }

  const slow = 'setInterval(() => {}, 1000)'
  const starts = {
    'the app is tried': [slow, 2],
    'the app is tried and hangs': ['Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 2],
    'its workers start': [`if (require('node:cluster').isWorker) ${slow}\nelse ${SHAPES.listens}`, 3]
  }
  for (const [what, [source, processes]] of Object.entries(starts)) {
    it(`should end on SIGTERM while ${what}, and print nothing`, proc, async t => {
      const instance = await make(t, 'node')
      instance.write(source)
      const started = instance.start().catch(err => err)
      await until(() => instance.left().length === processes)
      instance.master.kill('SIGTERM')
      await started
      assert.deepEqual(await instance.master.ended, { code: 0, lines: [] })
      await until(() => instance.left().length === 0)
    })
  }

  it('should say that the master is stopped, and do nothing else', async t => {
    const instance = await make(t, 'node')
    instance.write(SHAPES.app)
    await instance.start()
    const workers = await instance.workers()
    await pause(instance.master)

    const said = await Promise.all(['status', 'reload', 'stop', instance.app].map(command => instance.run(command)))
    instance.master.kill('SIGCONT')
    const silent = `kone: the instance on port ${instance.port} has not responded for 10 s: its master process is stopped or hangs: ` +
      'continue it (kill -CONT) or end it (kill -KILL) (kone/docs/api/cluster.md)'
    for (const { code, lines } of said.slice(0, 3)) assert.deepEqual({ code, lines }, { code: 1, lines: [silent] })
    assert.match(said[3].lines.join(), /^kone: port \d+ is in use by an instance of its own: /)
    assert.deepEqual(await instance.workers(), workers)
  })

  it('should be named by a command for another port', { skip: process.platform === 'win32' && 'pipes have no folder' }, async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    instance.write(SHAPES.function)
    await instance.start()
    const sockets = path.join(instance.folder, `kone-${process.getuid()}`)
    const [name] = fs.readdirSync(sockets)
    fs.writeFileSync(path.join(sockets, name.replace(/^\d+/, '1')), '') // of a master that was killed
    const port = await freePort()
    assert.deepEqual(await instance.run('status', '--port', String(port)), {
      code: 1,
      lines: [`kone: nothing was started on port ${port}, but on port ${instance.port}: kone status --port ${instance.port} (kone/docs/api/cluster.md)`]
    })
  })

  it('should reload on SIGHUP', async t => {
    const instance = await make(t, 'node')
    instance.write(SHAPES.app, 1)
    await instance.start()
    const old = await instance.workers()
    instance.write(SHAPES.app, 2)
    instance.master.kill('SIGHUP')
    await until(() => !old.some(isAlive))
    assert.equal((await instance.workers()).length, 2)
    assert.equal((await fetch(`${instance.url}/echo?id=1`)).headers.get('x-version'), '2')
  })

  it('should reload from a folder that replaces the one where it was started, and say when it is gone', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    const release = instance.cwd = path.join(instance.folder, 'release')
    instance.app = path.join(release, 'app.js')
    fs.mkdirSync(release)
    instance.write(SHAPES.app, 1)
    await instance.start()
    const [worker] = await instance.workers()
    let printed = ''
    instance.master.stderr.on('data', text => { printed += text })
    instance.cwd = instance.folder
    fs.rmSync(release, { recursive: true })
    process.kill(worker, 'SIGKILL')
    await until(() => /^kone: the folder \S+release, where it was started, does not exist/m.test(printed))
    const { code, lines } = await instance.run('reload')
    assert.deepEqual([code, lines.length], [1, 1])
    assert.match(lines[0], /^kone: the folder \S+release, where it was started, does not exist/)
    fs.mkdirSync(release)
    instance.write(SHAPES.app, 2)
    assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
    assert.equal((await fetch(`${instance.url}/echo?id=1`)).headers.get('x-version'), '2')
  })

  it('should take its workers with it when it is killed', proc, async t => {
    const instance = await make(t, 'node')
    instance.write(SHAPES.app)
    await instance.start()
    instance.master.kill('SIGKILL')
    await until(() => instance.left().length === 0)
    await instance.start() // where the socket of the killed one still lies
  })

  it('should cut what does not end within DRAIN_TIMEOUT', async t => {
    const instance = await make(t, 'node', { DRAIN_TIMEOUT: '300' })
    instance.write(SHAPES.app)
    await instance.start()
    const answer = await fetch(`${instance.url}/endless?id=1`)
    const stopped = instance.run('stop')
    await assert.rejects(lines(answer))
    assert.equal((await stopped).code, 0)
  })

  for (const place of ['place', '{ path: place }']) {
    it(`should serve an app that also listens on a Unix socket, by listen(${place}), and reload it`, async t => {
      const instance = await make(t, 'node')
      const socketPath = path.join(instance.folder, 'second.sock')
      instance.write(`${SHAPES.listens}
        const place = '${socketPath}'
        require('node:http').createServer(require('${APP}').callback()).listen(${place})`)
      await instance.start()
      for (let reloads = 0; reloads < 2; reloads++) {
        const [res] = await once(http.get({ socketPath, path: '/echo?id=1', agent: false }), 'response')
        assert.equal(res.resume().statusCode, 200)
        assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      }
      assert.equal((await instance.workers()).length, 2)
    })
  }

  for (const [how, source] of [
    ['at once', `${SHAPES.listens}; ${SHAPES.listens}`],
    ['later than what the file exports', BOTH]
  ]) {
    it(`should say why a second server cannot listen on the port, ${how}`, async t => {
      const instance = await make(t, 'node', { INSTANCES: '1' })
      instance.write(source)
      const master = instance.master = instance.spawn([instance.app])
      master.ended = once(master, 'close')
      let printed = ''
      master.stderr.setEncoding('utf8').on('data', text => { printed += text })
      await until(() => /^kone: port \d+ is in use: the file listens there twice, or exports the app and .*cluster\.md\)$/m.test(printed))
      master.kill('SIGTERM')
      await master.ended
    })
  }

  it('should survive a worker that dies while it waits for a reply', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    instance.write(`module.exports = (req, res) => {
      if (req.method === 'GET') return res.end(String(process.pid))
      require('node:net').createServer().listen(0)
      setImmediate(() => process.kill(process.pid, 'SIGKILL'))
    }`)
    await instance.start()
    const agent = new http.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const ask = async method => {
      const req = http.request({ host: '127.0.0.1', port: instance.port, method, agent }).end()
      const [res] = await once(req, 'response')
      return String(Buffer.concat(await res.toArray()))
    }
    const first = await ask('GET')
    instance.master.kill('SIGSTOP')
    await assert.rejects(ask('DELETE')) // on the connection that the worker has
    instance.master.kill('SIGCONT')
    const second = await until(() => ask('GET').catch(() => null))
    assert.notEqual(second, first)
    assert.ok(isAlive(instance.master.pid))
  })

  it('should close the connection that a hung worker had not taken when it died', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    instance.write(`module.exports = (req, res) => {
      res.write('all of it')
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    }`)
    await instance.start()
    const res = await fetch(instance.url)
    const waits = await Promise.all([0, 1].map(async () => {
      const socket = net.connect(instance.port, '127.0.0.1')
      t.after(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }))
    const [pid] = await instance.workers() // the master has accepted both, and handed one to the worker
    const signal = AbortSignal.timeout(20000)
    const closed = waits.map(socket => once(socket.resume(), 'close', { signal }).catch(err => assert.equal(err.code, 'ECONNRESET')))
    process.kill(pid, 'SIGKILL')
    await assert.rejects(res.text())
    await Promise.all(closed)
  })

  it('should replace what dies again and again ever more slowly, and come back', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    const births = `${instance.app}.births`
    const broken = `${instance.app}.broken`
    instance.write(`const fs = require('node:fs')
      fs.appendFileSync('${births}', Date.now() + '\\n')
      ${SHAPES.server}
      if (fs.existsSync('${broken}')) module.exports.on('listening', () => setTimeout(() => process.exit(1), 200))`)
    await instance.start()
    fs.writeFileSync(broken, '')
    assert.equal((await instance.run('reload')).code, 0)
    fs.writeFileSync(births, '')

    const times = () => fs.readFileSync(births, 'utf8').split('\n').filter(Boolean).map(Number)
    await until(() => times().length >= 5)
    await until(async () => (await instance.run('status')).lines.join() === 'pid -  waiting')
    // twice as long each time; what a busy machine adds cannot make it shorter
    const waits = times().slice(1).map((time, i) => time - times()[i])
    for (const [i, wait] of waits.entries()) assert.ok(wait >= FIRST_WAIT * 2 ** (i + 1), `${waits} ms`)
    fs.rmSync(broken)
    await until(async () => {
      const [pid] = await instance.workers()
      return pid && (await fetch(`${instance.url}/echo?id=1`).catch(() => ({}))).headers?.get('x-worker') === String(pid)
    })
  })

  it('should have one worker in the place of one that dies while a reload replaces it', proc, async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    const births = `${instance.app}.births`
    instance.write(SHAPES.app)
    await instance.start()
    const [old] = await instance.workers()
    instance.write(`if (process.env.NODE_APP_INSTANCE) {
      require('node:fs').appendFileSync('${births}', process.pid + '\\n')
      process.kill(${old}, 'SIGKILL')
      setTimeout(() => ${SHAPES.listens}, ${FIRST_WAIT * 5})
    } else ${SHAPES.listens}`, 2)
    assert.equal((await instance.run('reload')).code, 0)
    assert.equal(fs.readFileSync(births, 'utf8').split('\n').filter(Boolean).length, 1)
    assert.deepEqual(instance.left().sort(), [instance.master.pid, ...await instance.workers()].sort())
  })

  it('should replace and end a worker that the app disconnects', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1', DRAIN_TIMEOUT: '0' })
    instance.write(`module.exports = (req, res) => {
      res.setHeader('Connection', 'close').end(String(process.pid))
      if (req.method !== 'DELETE') return
      setInterval(() => {}, 1000)
      require('node:cluster').worker.disconnect()
    }`)
    await instance.start()
    const ask = method => fetch(instance.url, { method }).then(res => res.text())
    const meanwhile = Array.from({ length: 100 }, (_, i) => sleep(i / 4).then(() => ask('GET')).catch(() => null))
    const old = await ask('DELETE')
    await until(() => ask('GET').then(pid => pid !== old, () => false))
    await Promise.all(meanwhile) // no client waits for ever
    await until(() => !isAlive(Number(old)))
  })

  for (const after of [0, 300, 600]) {
    it(`should replace nobody by a version that listens and dies after ${after} ms`, proc, async t => {
      const instance = await make(t, 'node', { KONE_MIN_LIFE: '1500' })
      instance.write(SHAPES.app)
      await instance.start()
      const workers = await instance.workers()
      instance.write(`${SHAPES.app}
        const { listen } = require('node:net').Server.prototype
        require('node:net').Server.prototype.listen = function (...args) {
          if (process.env.NODE_APP_INSTANCE) this.once('listening', () => setTimeout(() => { throw new Error('no bread left') }, ${after}))
          return listen.apply(this, args)
        }`, 2)
      const { code, lines } = await instance.run('reload')
      assert.equal(code, 1)
      assert.match(lines.at(-1), /^kone: a new worker died, and no other one is replaced: no bread left \(\S*app\.js:\d+:\d+\) \(kone\/docs\/api\/cluster\.md\)$/)
      await until(async () => String((await instance.workers()).sort()) === String(workers.sort()))
      const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(`${instance.url}/echo?id=1`)))
      assert.deepEqual(new Set(responses.map(res => res.headers.get('x-version'))), new Set(['1']))
      instance.write(SHAPES.app, 3)
      assert.deepEqual(await instance.run('reload'), { code: 0, lines: [] })
      assert.equal((await fetch(`${instance.url}/echo?id=1`)).headers.get('x-version'), '3')
    })
  }

  it('should go on replacing what died when a reload fails meanwhile', async t => {
    const instance = await make(t, 'node', { INSTANCES: '1' })
    const broken = `${instance.app}.broken`
    instance.write(`if (process.env.NODE_APP_INSTANCE && require('node:fs').existsSync('${broken}')) throw new Error('no bread')
      ${SHAPES.app}`)
    await instance.start()
    fs.writeFileSync(broken, '')
    for (const pid of await instance.workers()) process.kill(pid, 'SIGKILL')
    const { code, lines } = await instance.run('reload')
    assert.equal(code, 1, lines.join('\n'))
    fs.rmSync(broken)
    await until(() => fetch(instance.url).catch(() => null))
  })
})
