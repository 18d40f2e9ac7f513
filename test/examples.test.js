'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const { createHook } = require('node:async_hooks')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const path = require('node:path')
const { promisify } = require('node:util')
const { io } = require('socket.io-client')
const WebSocket = require('ws')
const { start } = require('./helpers/child')
const folder = require('./helpers/folder')
const { onFreePort } = require('./helpers/ports')
const share = require('./helpers/share')
const until = require('./helpers/until')
const { open } = require('../examples/app/store')

const examples = path.join(__dirname, '../examples')
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`

/** Start an example on a free port for as long as its tests run. */
function example (file, suite) {
  describe(`examples/${path.basename(file)}`, () => {
    const child = {}
    before(async () => {
      Object.assign(child, await onFreePort(port => start([path.resolve(examples, file)], { PORT: String(port) })))
    })
    after(() => child.stop?.('SIGKILL'))
    suite((target, options) => fetch(child.url + target, options), child)
  })
}

/** The body of a response to a client that names this host. */
async function as (host, url) {
  const [res] = await once(http.get(url, { headers: { host } }), 'response')
  return (await res.toArray()).join('')
}

example('hello.js', ask => {
  it('should greet', async () => {
    assert.equal(await (await ask('/')).text(), 'Hello World')
  })
})

describe('examples/app', () => {
  it('should hash once at each sign-in, and meanwhile do other work', async t => {
    const store = open(folder())
    let hashes = 0
    const hook = createHook({ init (id, type) { if (type === 'SCRYPTREQUEST') hashes++ } }).enable()
    t.after(() => hook.disable())
    for (const [password, isRight] of [['of a new name', true], ['of a new name', true], ['a wrong one', false]]) {
      let hasTurned = false
      setImmediate(() => { hasTurned = true })
      hashes = 0
      assert.equal(await store.signIn('Ada', password), isRight)
      assert.deepEqual([hashes, hasTurned], [1, true])
    }
  })

  it('should make one account of a name, although two requests make it at once', async () => {
    const store = open(folder())
    const signIns = (name, passwords) => Promise.all(passwords.map(password => store.signIn(name, password)))
    assert.deepEqual(await signIns('Grace', ['the same one', 'the same one']), [true, true])
    assert.deepEqual((await signIns('Linus', ['one password', 'another one'])).sort(), [false, true])
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

example('openapi.js', ask => {
  const post = body => ask('/items', { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })

  it('should add an item and list it', async () => {
    assert.equal((await post({ name: 'Tea' })).status, 400)
    assert.equal((await post({ name: 'Tea', price: 4 })).status, 201)
    assert.deepEqual(await (await ask('/items')).json(), [{ id: 1, name: 'Tea', price: 4 }])
    assert.equal((await ask('/items/1')).status, 200)
    assert.equal((await ask('/items/2')).status, 404)
  })

  it('should describe itself, with a page', async () => {
    const { paths } = await (await ask('/openapi.json')).json()
    assert.deepEqual(Object.keys(paths), ['/items', '/items/{id}'])
    assert.match(await (await ask('/docs')).text(), /<script src="\/docs\/page.js">/)
  })
})

example('streaming.js', (ask, child) => {
  const ticks = 'tick 1\ntick 2\ntick 3\ntick 4\ntick 5\n'

  it('should stream a file', async () => {
    const res = await ask('/source')
    assert.match(res.headers.get('content-type'), /javascript/)
    assert.equal(await res.text(), fs.readFileSync(path.join(examples, 'streaming.js'), 'utf8'))
  })

  it('should stream a generator', async () => {
    assert.equal(await (await ask('/ticks')).text(), ticks)
  })

  it('should pass on the response of a fetch', async () => {
    const res = await ask('/again')
    assert.equal(res.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(await res.text(), ticks)
  })

  it('should fetch from itself, whatever host a client names', async () => {
    assert.equal(await as('localhost:1', `${child.url}/again`), ticks)
  })
})

example('errors.js', (ask, child) => {
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
    await until(() => /GET \/api\/crash: .*not JSON/.test(child.output()))
  })
})

example('final.js', (ask, child) => {
  it('should wrap the response, time it and log it', async () => {
    const res = await ask('/a')
    assert.deepEqual(await res.json(), { ok: true, data: { path: '/a' } })
    assert.match(res.headers.get('server-timing'), /^app;dur=\d+\.\d\d$/)
    await until(() => /GET \/a 200/.test(child.output()))
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

describe('examples/typescript', { skip: share('in make test-all: it is compiled', false) }, () => {
  // within the checkout, where `kone` is this package
  const out = fs.mkdtempSync(path.join(__dirname, '.typescript-'))

  before(() => promisify(execFile)(process.execPath, [
    require.resolve('typescript/bin/tsc'), '-p', path.join(examples, 'typescript'), '--outDir', out
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

example('https', (ask, child) => {
  it('should respond over TLS', async () => {
    const [res] = await once(https.get(`${child.url}/a?b=1`, { rejectUnauthorized: false }), 'response')
    const body = JSON.parse((await res.toArray()).join(''))
    assert.deepEqual(body, { protocol: 'https', secure: true, url: `${child.url}/a?b=1` })
  })

  it('should say in one line that a certificate is missing', async () => {
    const env = { ...process.env, KEY: '/nowhere/key.pem', CERT: '/nowhere/cert.pem', PORT: '0' }
    const [code, stderr] = await new Promise(resolve => {
      execFile(process.execPath, ['examples/https.js'], { env }, (err, stdout, stderr) => resolve([err.code, stderr]))
    })
    assert.equal(code, 1)
    assert.match(stderr, /^cannot read the certificate [^\n]*\/nowhere\/key\.pem[^\n]*\n$/)
  })
})

example('http2', (ask, child) => {
  it('should agree on h2 by ALPN and push nothing', async () => {
    const session = http2.connect(child.url, { rejectUnauthorized: false })
    session.on('stream', () => assert.fail('pushed'))
    const stream = session.request({ ':path': '/' })
    const [headers] = await once(stream, 'response')
    assert.equal(session.alpnProtocol, 'h2')
    assert.equal(headers[':status'], 200)
    const body = JSON.parse((await stream.toArray()).join(''))
    assert.deepEqual(body, { version: '2.0', host: new URL(child.url).host, secure: true })
    session.close()
  })

  it('should agree on HTTP/1.1 with a client that speaks nothing else', async () => {
    const [res] = await once(https.get(child.url, { rejectUnauthorized: false, agent: false }), 'response')
    assert.equal(JSON.parse((await res.toArray()).join('')).version, '1.1')
  })

  it('should drain on SIGTERM: GOAWAY with the last request, and exit code 0', async () => {
    const session = http2.connect(child.url, { rejectUnauthorized: false })
    const stream = session.request({ ':path': '/' })
    await once(stream, 'response')
    await stream.toArray()
    const [[error, last], code] = await Promise.all([once(session, 'goaway'), child.stop('SIGTERM')])
    assert.deepEqual({ error, last, code }, { error: 0, last: stream.id, code: 0 })
  })
})

example('websocket', (ask, child) => {
  it('should upgrade beside plain requests', async () => {
    const socket = new WebSocket(child.url.replace('http', 'ws'))
    await once(socket, 'open')
    socket.send('hello')
    const [message] = await once(socket, 'message')
    assert.equal(String(message), 'echo: hello')
    assert.equal(await (await ask('/')).text(), 'Connect a WebSocket to this port')
    socket.close()
  })
})

example('chat', (ask, child) => {
  it('should talk in a channel to who is signed in, and leave with 1001', async () => {
    const enter = async user => {
      const { headers } = await ask('/login', { method: 'POST', body: new URLSearchParams({ user }) })
      const socket = new WebSocket(`${child.url.replace('http', 'ws')}/channels/lobby`, { headers: { cookie: headers.getSetCookie()[0].split(';')[0] } })
      await once(socket, 'open')
      return socket
    }
    const [ada, bob] = [await enter('Ada'), await enter('Bob')]
    ada.send('hello')
    assert.deepEqual((await Promise.all([ada, bob].map(one => once(one, 'message')))).map(String), ['Ada: hello,false', 'Ada: hello,false'])
    const stranger = new WebSocket(`${child.url.replace('http', 'ws')}/channels/lobby`)
    assert.match((await once(stranger, 'error'))[0].message, /401/)
    const left = once(bob, 'close')
    child.stop('SIGTERM')
    assert.equal((await left)[0], 1001)
  })
})

example('socket-io', (ask, child) => {
  for (const transport of ['polling', 'websocket']) {
    it(`should talk over ${transport}`, async () => {
      const socket = io(child.url, { transports: [transport] })
      assert.equal(await socket.timeout(5000).emitWithAck('say', 'hello'), 'echo: hello')
      socket.close()
    })
  }
})

example('metrics', (ask, child) => {
  it('should count by route', async () => {
    for (const id of [1, 2, 3]) await (await ask(`/users/${id}`)).text()
    const counted = /http_request_duration_seconds_count\{[^}]*route="\/users\/:id"[^}]*\} 3/
    const text = await until(async () => {
      const text = await (await ask('/metrics')).text()
      return counted.test(text) && text
    })
    assert.match(text, /http_requests_in_flight 0/)
    assert.match(text, /nodejs_eventloop_lag_seconds/)
    assert.match(text, /nodejs_heap_size_used_bytes/)
  })

  it('should be ready, but not while it drains', async () => {
    assert.equal((await ask('/healthz')).status, 200)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const readiness = async () => {
      const [res] = await once(http.get(`${child.url}/readyz`, { agent }), 'response')
      return [res.statusCode, (await res.toArray()).join(''), res.headers.connection]
    }
    assert.deepEqual(await readiness(), [200, 'up', 'keep-alive'])
    child.process.kill('SIGTERM')
    const answer = await until(async () => {
      const answer = await readiness()
      return answer[0] !== 200 && answer
    })
    assert.deepEqual(answer, [503, 'down', 'close'])
    if (child.process.exitCode === null) await once(child.process, 'exit')
    assert.equal(child.process.exitCode, 0)
    agent.destroy()
  })
})

example('opentelemetry', (ask, child) => {
  /** All spans, once there is one of this name. */
  const spansWith = name => until(async () => {
    const spans = await (await ask('/spans')).json()
    return spans.some(span => span.name === name) && spans
  })

  it('should continue the trace of its caller, and be continued', async () => {
    const seen = await (await ask('/through', { headers: { traceparent } })).json()
    const found = await spansWith('GET /through')
    const outer = found.find(({ name }) => name === 'GET /through')
    const inner = found.find(({ name }) => name === 'GET /users/:id')
    assert.equal(outer.traceId, TRACE)
    assert.equal(outer.parent, 'b7ad6b7169203331')
    assert.equal(inner.traceId, TRACE)
    assert.equal(inner.parent, outer.spanId)
    assert.equal(seen.traceparent, `00-${TRACE}-${outer.spanId}-01`)
    assert.equal(inner.attributes['http.route'], '/users/:id')
    assert.equal(inner.attributes['http.response.status_code'], 200)
  })

  it('should fetch from itself, whatever host a client names', async () => {
    assert.equal(JSON.parse(await as('localhost:1', `${child.url}/through`)).id, '7')
  })

  it('should record an error with its status', async () => {
    assert.equal((await ask('/broken')).status, 500)
    const found = await spansWith('GET /broken')
    const broken = found.find(({ name }) => name === 'GET /broken')
    assert.equal(broken.attributes['http.response.status_code'], 500)
    assert.equal(broken.status.code, 2)
    assert.deepEqual(broken.events, ['exception'])
  })
})

example('json-logs', (ask, child) => {
  /** The two lines of a request. */
  const linesOf = id => until(() => {
    const lines = child.output().split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line))
    const found = lines.filter(({ requestId }) => requestId === id)
    return found.length === 2 && found
  })

  it('should log with the ids of request and trace', async () => {
    await ask('/?name=tobi', { headers: { 'x-request-id': 'r-1', traceparent } })
    const [hello, request] = await linesOf('r-1')
    assert.equal(hello.greeted, 'tobi')
    for (const line of [hello, request]) assert.equal(line.traceId, TRACE)
    assert.equal(request.status, 200)
    assert.equal(request.url, '/?name=tobi')
  })

  it('should log an error under the same id', async () => {
    await ask('/broken', { headers: { 'x-request-id': 'r-2' } })
    const [error, request] = await linesOf('r-2')
    assert.equal(error.err.message, 'out of order')
    assert.equal(request.status, 500)
  })
})
