'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { after, before, describe, it } = require('node:test')
const WebSocket = require('ws')
const { io } = require('socket.io-client')
const { start } = require('./helpers/child')
const until = require('./helpers/until')

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`

function example (name, suite) {
  describe(`examples/${name}`, () => {
    const child = {}
    before(async () => Object.assign(child, await start([`examples/${name}`], { PORT: '0' })))
    after(() => child.stop?.('SIGKILL'))
    suite(child)
  })
}

example('https', child => {
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

example('http2', child => {
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

example('websocket', child => {
  it('should upgrade beside plain requests', async () => {
    const socket = new WebSocket(child.url.replace('http', 'ws'))
    await once(socket, 'open')
    socket.send('hello')
    const [message] = await once(socket, 'message')
    assert.equal(String(message), 'echo: hello')
    assert.equal(await (await fetch(child.url)).text(), 'Connect a WebSocket to this port')
    socket.close()
  })
})

example('socket-io', child => {
  for (const transport of ['polling', 'websocket']) {
    it(`should talk over ${transport}`, async () => {
      const socket = io(child.url, { transports: [transport] })
      assert.equal(await socket.timeout(5000).emitWithAck('say', 'hello'), 'echo: hello')
      socket.close()
    })
  }
})

example('metrics', child => {
  it('should count by route', async () => {
    for (const id of [1, 2, 3]) await (await fetch(`${child.url}/users/${id}`)).text()
    const counted = /http_request_duration_seconds_count\{[^}]*route="\/users\/:id"[^}]*\} 3/
    const text = await until(async () => {
      const text = await (await fetch(`${child.url}/metrics`)).text()
      return counted.test(text) && text
    })
    assert.match(text, /http_requests_in_flight 0/)
    assert.match(text, /nodejs_eventloop_lag_seconds/)
    assert.match(text, /nodejs_heap_size_used_bytes/)
  })

  it('should be ready, but not while it drains', async () => {
    assert.equal((await fetch(`${child.url}/healthz`)).status, 200)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const ask = async () => {
      const [res] = await once(http.get(`${child.url}/readyz`, { agent }), 'response')
      return [res.statusCode, (await res.toArray()).join(''), res.headers.connection]
    }
    assert.deepEqual(await ask(), [200, 'up', 'keep-alive'])
    child.process.kill('SIGTERM')
    const answer = await until(async () => {
      const answer = await ask()
      return answer[0] !== 200 && answer
    })
    assert.deepEqual(answer, [503, 'down', 'close'])
    if (child.process.exitCode === null) await once(child.process, 'exit')
    assert.equal(child.process.exitCode, 0)
    agent.destroy()
  })
})

example('opentelemetry', child => {
  /** All spans, once there is one of this name. */
  const spansWith = name => until(async () => {
    const spans = await (await fetch(`${child.url}/spans`)).json()
    return spans.some(span => span.name === name) && spans
  })

  it('should continue the trace of its caller, and be continued', async () => {
    const seen = await (await fetch(`${child.url}/through`, { headers: { traceparent } })).json()
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

  it('should record an error with its status', async () => {
    assert.equal((await fetch(`${child.url}/broken`)).status, 500)
    const found = await spansWith('GET /broken')
    const broken = found.find(({ name }) => name === 'GET /broken')
    assert.equal(broken.attributes['http.response.status_code'], 500)
    assert.equal(broken.status.code, 2)
    assert.deepEqual(broken.events, ['exception'])
  })
})

example('json-logs', child => {
  /** The two lines of a request. */
  const linesOf = id => until(() => {
    const lines = child.output().split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line))
    const found = lines.filter(({ requestId }) => requestId === id)
    return found.length === 2 && found
  })

  it('should log with the ids of request and trace', async () => {
    await fetch(`${child.url}/?name=tobi`, { headers: { 'x-request-id': 'r-1', traceparent } })
    const [hello, request] = await linesOf('r-1')
    assert.equal(hello.greeted, 'tobi')
    for (const line of [hello, request]) assert.equal(line.traceId, TRACE)
    assert.equal(request.status, 200)
    assert.equal(request.url, '/?name=tobi')
  })

  it('should log an error under the same id', async () => {
    await fetch(`${child.url}/broken`, { headers: { 'x-request-id': 'r-2' } })
    const [error, request] = await linesOf('r-2')
    assert.equal(error.err.message, 'out of order')
    assert.equal(request.status, 500)
  })
})
