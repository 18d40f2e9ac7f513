'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const dgram = require('node:dgram')
const { EventEmitter, once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { dryRun } = require('../../cluster/dry-run')
const untilReady = require('../../cluster/until-ready')
const { onFreePort } = require('../helpers/ports')
const { SHAPES, make, until } = require('./instance')

const WORKER = path.join(__dirname, '../../cluster/worker.js')

async function start (t, source, env) {
  const instance = await make(t, 'node')
  instance.write(source)
  return onFreePort(async port => {
    const worker = fork(WORKER, {
      env: { ...process.env, NODE_TEST_CONTEXT: '', KONE_APP: instance.app, PORT: port, DRAIN_TIMEOUT: 5000, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    })
    t.after(() => worker.kill('SIGKILL'))
    const ended = once(worker, 'exit')
    const [message] = await once(worker, 'message')
    if (/EADDRINUSE|is in use/.test(message.failed)) throw new Error(message.failed)
    return { worker, message, port, ended }
  })
}

describe('a worker', () => {
  for (const how of ['shutdown', 'SIGINT', 'SIGTERM']) {
    it(`should respond to what is in flight on ${how}, tell kept connections, accept nothing, and end`, async t => {
      const { worker, message, port, ended } = await start(t, SHAPES.app)
      assert.equal(message, 'ready')
      const agent = new http.Agent({ keepAlive: true })
      const ask = (path, agent) => new Promise((resolve, reject) => {
        http.get({ host: '127.0.0.1', port, path, agent }, async res => {
          let text = ''
          for await (const chunk of res) text += chunk
          resolve({ text, headers: res.headers })
        }).on('error', reject)
      })
      assert.equal((await ask('/echo?id=1', agent)).headers.connection, 'keep-alive')
      const held = ask('/held?id=2')
      await until(async () => (await ask('/held/count', agent)).text === '1')

      if (how === 'shutdown') worker.send('shutdown')
      else worker.kill(how)
      await until(() => ask('/echo?id=3').then(() => false, ({ code }) => code === 'ECONNREFUSED'))
      const kept = await ask('/release?id=4', agent)
      assert.equal(kept.text, '4')
      assert.equal(kept.headers.connection, 'close')
      const { text, headers } = await held
      assert.equal(text, '2 at last')
      assert.equal(headers.connection, 'close')
      assert.deepEqual(await ended, [0, null])
      agent.destroy()
    })
  }

  it('should not hear the hang-up of the terminal', async t => {
    const { worker, port, ended } = await start(t, SHAPES.function)
    worker.kill('SIGHUP')
    assert.equal((await fetch(`http://127.0.0.1:${port}/echo?id=1`)).status, 200)
    worker.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  it('should drain a server of another copy of kone', async t => {
    const copy = fs.realpathSync(path.join(__dirname, '../../lib'))
    const { worker, port, ended } = await start(t, `
      for (const key of Object.keys(require.cache)) if (key.startsWith('${copy}')) delete require.cache[key]
      ${SHAPES.listens}`)
    await (await fetch(`http://127.0.0.1:${port}/echo?id=1`)).text()
    const answer = await fetch(`http://127.0.0.1:${port}/stream?id=2`) // the headers are here, the end is not
    worker.send('shutdown')
    assert.match(await answer.text(), /^2\.0\n[^]*\n2\.19\n$/)
    assert.deepEqual(await ended, [0, null])
  })

  it('should say what it failed with', async t => {
    for (const [source, failed] of [
      ["throw new Error('no\\n  bread')", /^no bread \(\/.*app\.js:3:7\)$/],
      ['throw null', 'null'],
      ["throw Object.assign(new AggregateError([new Error('connect ECONNREFUSED')]), { code: 'ECONNREFUSED' })",
        /^connect ECONNREFUSED \(/],
      ["require('./no')", /^Cannot find module '.\/no' \(\/.*app\.js:3:1\)$/],
      ['let x = ;', /^Unexpected token ';' \(\/.*app\.js:3:9\)$/],
      ...['() => new (require("node:http").Server)()', 'async ({ db } = {}) => {}', 'class App { constructor (a, b) {} }'].map(fn =>
        [`module.exports = ${fn}`, /^it exports a function without \(req, res\): export the app, not what makes it/]),
      ...['', '.bind(null)', '\nmodule.exports = Promise.resolve(module.exports)'].map(rest =>
        [`${SHAPES.app}.fetch${rest}`, /^it exports app\.fetch, which takes a Request, not \(req, res\): export the app/]),
      ['module.exports = require("node:http").createServer().listen(0)', /^the server that it exports listens already: let it listen on process\.env\.PORT/],
      ['module.exports = new Promise(() => {})', /^the promise that it exports, or one that it awaits outside of functions, is never settled/],
      ...['fetch (request, ...rest) {}', 'fetch: async (req, env, ctx) => {}', 'fetch: request => {}'].map(method =>
        [`module.exports = { ${method} }.fetch`, /^it exports app\.fetch, /]),
      ['module.exports = {}', /^it exports neither an app nor a function nor a server, and nothing listens on port/]
    ]) {
      const { message, ended } = await start(t, source)
      if (typeof failed === 'string') assert.equal(message.failed, failed)
      else assert.match(message.failed, failed)
      assert.deepEqual(await ended, [1, null])
    }
  })

  it('should serve a function whose length or name does not tell that it takes (req, res)', async t => {
    for (const fn of [
      '(...args) => hi(...args)', 'function () { hi(...arguments) }', 'hi.bind(null)', '((...args) => hi(...args)).bind(null)',
      'function fetch (req, res) { hi(req, res) }', '{ async fetch(request, response) { hi(request, response) } }.fetch'
    ]) {
      const { message, port, worker } = await start(t, `const hi = (req, res) => res.end('hi')\nmodule.exports = ${fn}`)
      assert.equal(message, 'ready', fn)
      assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'hi')
      worker.kill('SIGKILL')
    }
  })

  it('should hold no server that the app has closed', async t => {
    const { port, worker } = await start(t, `
      require('node:v8').setFlagsFromString('--expose-gc')
      const gc = require('node:vm').runInNewContext('gc')
      const listen = () => new WeakRef(require('node:http').createServer().listen(0, function () { this.close() }))
      const closed = listen()
      module.exports = (req, res) => res.end(String(gc() ?? closed.deref() === undefined))`)
    await until(() => fetch(`http://127.0.0.1:${port}`).then(async res => await res.text() === 'true'))
    worker.kill('SIGKILL')
  })

  it('should say where else the app listens, when it is tried', async t => {
    const { message, worker } = await start(t, "require('node:http').createServer().listen(3000)", { KONE_DRY_RUN: '1' })
    assert.deepEqual(message, { elsewhere: 3000 })
    worker.disconnect()
  })

  it('should let nothing of a isDryRun disturb the ports in use', async t => {
    const server = http.createServer((req, res) => res.end('mine')).listen(0)
    const socket = dgram.createSocket('udp4').bind(0)
    t.after(() => socket.close())
    await Promise.all([once(server, 'listening'), once(socket, 'listening')])
    const { port } = server.address()
    const { message, ended } = await start(t, `
      require('node:net').createServer().listen({ port: ${port} })
      const { createSocket } = require('node:dgram')
      createSocket('udp4').bind(${socket.address().port})
      createSocket('udp4').bind({ port: ${socket.address().port} }, () => setTimeout(() => ${SHAPES.listens}, 20))
      `, { PORT: port, KONE_DRY_RUN: '1' })
    assert.equal(message, 'ready')
    assert.deepEqual(await ended, [0, null])
    assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'mine')
    server.closeAllConnections()
    server.close()
  })
})

describe('dryRun()', () => {
  it("should let the app's listeners of 'exit' end", async t => {
    const instance = await make(t, 'node')
    const ended = `${instance.app}.ended`
    instance.write(`process.on('exit', () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
      require('node:fs').writeFileSync('${ended}', '')
    })
    ${SHAPES.app}`)
    assert.equal(await dryRun({ ...instance.env, KONE_APP: instance.app }), 'http')
    assert.ok(fs.existsSync(ended))
  })

  for (const [what, source] of [
    ['node:https', "require('node:https').createServer()"],
    ['node:http2', "require('node:http2').createSecureServer()"]
  ]) {
    it(`should report a server of ${what} as https`, async t => {
      const instance = await make(t, 'node')
      instance.write(`module.exports = ${source}`)
      assert.equal(await dryRun({ ...instance.env, KONE_APP: instance.app }), 'https')
    })
  }
})

describe('untilReady()', () => {
  it('should say that nothing listens after a minute, and soon that the app listens elsewhere', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { mock } = t.mock.method(console, 'error', () => {})
    for (const [elsewhere, where] of [[undefined, 'nothing listens on port 4000'], [3000, 'the app listens on port 3000, not on port 4000']]) {
      const child = Object.assign(new EventEmitter(), { kill: t.mock.fn() })
      const ready = untilReady(child, 4000)
      child.emit('message', { elsewhere })
      t.mock.timers.tick(3000)
      const printed = mock.calls.map(call => call.arguments[0])
      assert.deepEqual(printed, elsewhere ? [`kone: ${where}: kone waits until it listens on process.env.PORT (kone/docs/api/cluster.md)`] : [])
      t.mock.timers.tick(57000)
      await assert.rejects(ready, { message: `after 60 s ${where}: the app has to listen on process.env.PORT (kone/docs/api/cluster.md)` })
      assert.equal(child.kill.mock.callCount(), 1)
    }
  })
})
