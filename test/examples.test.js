'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { promisify } = require('node:util')
const { onFreePort } = require('./helpers/ports')
const until = require('./helpers/until')

const folder = path.join(__dirname, '../examples')

example('hello.js', ask => {
  it('should greet', async () => {
    const res = await ask('/')
    assert.equal(res.status, 200)
    assert.equal(await res.text(), 'Hello World')
  })
})

example('json.js', ask => {
  const post = (body, type = 'application/json') =>
    ask('/notes', { method: 'POST', body, headers: { 'Content-Type': type } })

  it('should take a note and list it', async () => {
    const res = await post('{"text":"milk"}')
    assert.equal(res.status, 201)
    assert.equal(res.headers.get('location'), '/notes')
    assert.deepEqual(await (await ask('/notes')).json(), [{ id: 1, text: 'milk' }])
  })

  it('should refuse a body that is not a note', async () => {
    assert.equal((await post('{"text":1}')).status, 400)
    assert.equal((await post('null')).status, 400)
    assert.equal((await post('{')).status, 400)
    assert.equal((await post('text', 'text/plain')).status, 415)
    assert.equal((await post(' '.repeat(10241))).status, 413)
    assert.equal((await ask('/elsewhere')).status, 404)
  })
})

example('streaming.js', ask => {
  const ticks = 'tick 1\ntick 2\ntick 3\ntick 4\ntick 5\n'

  it('should stream a file', async () => {
    const res = await ask('/source')
    assert.match(res.headers.get('content-type'), /javascript/)
    assert.equal(await res.text(), fs.readFileSync(path.join(folder, 'streaming.js'), 'utf8'))
  })

  it('should stream a generator', async () => {
    assert.equal(await (await ask('/ticks')).text(), ticks)
  })

  it('should pass on the response of a fetch', async () => {
    const res = await ask('/again')
    assert.equal(res.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(await res.text(), ticks)
  })
})

example('errors.js', (ask, server) => {
  it('should send the message of an error that is for the client', async () => {
    const res = await ask('/api/name')
    assert.equal(res.status, 400)
    assert.deepEqual(await res.json(), { error: 'name required', field: 'name' })
    assert.deepEqual(await (await ask('/api/name?name=tobi')).json(), { name: 'tobi' })
    assert.equal(await (await ask('/name')).text(), 'name required')
  })

  it('should log other errors, and send none of their message', async () => {
    const res = await ask('/api/crash')
    assert.equal(res.status, 500)
    assert.deepEqual(await res.json(), { error: 'something went wrong' })
    assert.equal(await (await ask('/crash')).text(), 'Internal Server Error')
    assert.match(await server.printed('stderr', /GET \/crash/), /GET \/api\/crash: .*not JSON/)
  })
})

example('final.js', (ask, server) => {
  it('should wrap the response, time it and log it', async () => {
    const res = await ask('/a')
    assert.deepEqual(await res.json(), { ok: true, data: { path: '/a' } })
    assert.match(res.headers.get('server-timing'), /^app;dur=\d+\.\d\d$/)
    assert.match(await server.printed('stdout', /GET \/a/), /GET \/a 200/)
  })
})

example('esm.mjs', ask => {
  it('should respond, and turn errors into JSON', async () => {
    assert.deepEqual(await (await ask('/')).json(), { hello: 'ES modules' })
    const res = await ask('/elsewhere')
    assert.equal(res.status, 404)
    assert.deepEqual(await res.json(), { error: 'no such page' })
  })
})

example('koa-packages/index.js', ask => {
  it('should serve koa-router, koa-bodyparser, koa-session-minimal and koa-views', async () => {
    const first = await ask('/')
    assert.match(await first.text(), /Hello stranger[\s\S]*0 times/)
    const cookie = first.headers.getSetCookie().map(line => line.split(';')[0]).join('; ')

    const named = await ask('/name', {
      method: 'POST',
      body: new URLSearchParams({ name: '<Tobi>' }),
      headers: { cookie },
      redirect: 'manual'
    })
    assert.equal(named.status, 302)
    assert.match(await (await ask('/', { headers: { cookie } })).text(), /Hello &lt;Tobi&gt;[\s\S]*1 times/)
  })

  it('should let koa-router respond to what has no route', async () => {
    assert.equal((await ask('/name', { method: 'DELETE' })).status, 405)
    assert.equal((await ask('/name', { method: 'POST' })).status, 400)
  })
})

describe('examples/typescript', () => {
  // within the checkout, where `kone` is this package
  const out = fs.mkdtempSync(path.join(__dirname, '.typescript-'))

  before(() => promisify(execFile)(process.execPath, [
    require.resolve('typescript/bin/tsc'), '-p', path.join(folder, 'typescript'), '--outDir', out
  ]))
  after(() => fs.rmSync(out, { recursive: true }))

  example(path.join(out, 'index.js'), ask => {
    it('should compile, greet a named client and refuse one without a name', async () => {
      assert.deepEqual(await (await ask('/?name=Tobi')).json(), { greeting: 'Hello Tobi' })
      const res = await ask('/')
      assert.equal(res.status, 401)
      assert.equal(await res.text(), 'who are you?')
    })
  })
})

describe('examples', () => {
  it('should be short', () => {
    for (const file of fs.readdirSync(folder).filter(name => /\.m?js$/.test(name))) {
      const lines = fs.readFileSync(path.join(folder, file), 'utf8').trimEnd().split('\n')
      assert.ok(lines.length <= 40, `${file} has ${lines.length} lines`)
    }
  })
})

/**
 * Start an example on a free port for as long as its tests run.
 */
function example (file, suite) {
  describe(`examples: ${path.basename(file)}`, () => {
    const server = { stdout: '', stderr: '' }

    before(() => onFreePort(async port => {
      Object.assign(server, { origin: `http://127.0.0.1:${port}`, stdout: '', stderr: '' })
      server.child = spawn(process.execPath, [path.resolve(folder, file)], {
        env: { ...process.env, PORT: port },
        stdio: ['ignore', 'pipe', 'pipe']
      })
      for (const name of ['stdout', 'stderr']) {
        server.child[name].setEncoding('utf8').on('data', text => { server[name] += text })
      }
      const ended = once(server.child, 'close').then(() => { throw new Error(server.stderr) })
      await Promise.race([ended, until(() => isReachable(port))])
    }))

    after(async () => {
      if (server.child.exitCode !== null) return
      server.child.kill()
      await once(server.child, 'exit')
    })

    server.printed = async (name, expected) => {
      await until(() => expected.test(server[name]))
      return server[name]
    }

    suite((target, options) => fetch(server.origin + target, options), server)
  })
}

async function isReachable (port) {
  const socket = net.connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
