'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { gunzipSync } = require('node:zlib')
const { names } = require('../../../tools/middleware-index')
const runtimes = require('../../helpers/runtimes')

const APP = path.join(__dirname, 'set', 'app.mjs')
const HELLO = 'hello {{ name }}\n'
const WORDS = 'many words '.repeat(1000)
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8', text: /^data: one\n\n(?::\n\n)*data: two\n\n$/ }
const LARGE = { text: 'x'.repeat(100_000) }
const FORM = new FormData()
FORM.append('file', new Blob(['content']), 'name.txt')

const get = headers => ({ headers })
const post = (body, headers = { 'Content-Type': 'application/json' }) => ({ method: 'POST', body, headers })
const NODE_ONLY = /^ctx\.req and ctx\.res exist on Node only, not in app\.fetch\(\) on (?:Bun|Deno): use /
const only = (path, init, seen, message = NODE_ONLY) => on => on === 'node' ? [path, init, seen] : [path, init, 500, message]

/**
 * By name of the middleware: requests, each a path, what fetch() takes (or a function that makes it of the first response),
 * what is seen of the response (a status, or the values of some of status, text, json and headers), and what the app reports.
 */
const CHECKS = {
  bodyParser: [['', post(JSON.stringify(LARGE)), { json: LARGE }], ['', post('{'), 400]],
  compress: ['', '/stream'].map(path => [path, get({ 'Accept-Encoding': 'gzip' }), { 'content-encoding': 'gzip', text: WORDS }]),
  conditionalGet: [
    ['', {}, 200],
    ['', ({ etag }) => get({ 'If-None-Match': etag, 'Cache-Control': 'max-age=0', Pragma: 'x' }), 304] // fetch would send no-cache
  ],
  cors: [['', get({ Origin: 'http://a.test' }), { 'access-control-allow-origin': '*' }]],
  csrf: [
    ['', {}, 200],
    ['', ({ cookie, text }) => post(undefined, { cookie, 'x-csrf-token': text }), 200],
    ['', ({ cookie }) => post(undefined, { cookie }), 403]
  ],
  etag: [['', {}, { etag: /^"/ }]],
  favicon: [['', {}, { text: HELLO }]],
  health: [['/healthz', {}, 200], ['/readyz', {}, 503, 'down on purpose']],
  helmet: [['', {}, { 'x-content-type-options': 'nosniff' }], only('/nonce', {}, 200)],
  i18n: [['', get({ 'Accept-Language': 'de' }), { text: 'hallo' }]],
  isolate: [on => on === 'node' ? ['', {}, 500, 'in a timer'] : ['', {}, 501, /^isolate: it works on Node only, because /]],
  jsonp: [['?callback=f', {}, { text: '/**/f({"a":1});' }]],
  logger: [['/a', {}, 200], ['/lines', {}, { text: /^\["GET \/logger\/a 200 \S*127\.0\.0\.1 1\.1"[,\]]/ }]],
  metrics: [['', {}, 200], ['/metrics', {}, { text: /^http_request_duration_seconds_count\{.*\} 1$/m }]],
  openapi: [['/openapi.json', {}, { paths: ['/items/{id}'] }]],
  overload: [
    ['', {}, 200], ['/full', {}, 503],
    only('/utilization', {}, 200, /^overload\.maxEventLoopUtilization: it works on Node only, because /)
  ],
  rateLimit: [['', {}, 200], ['', {}, 200], ['', {}, 429]],
  requestId: [['', get({ 'X-Request-Id': 'mine' }), { text: 'mine' }], ['', {}, { text: /^[\w-]{10,}$/ }]],
  router: [['/items/5', {}, { json: { id: '5' } }]],
  rpc: [['/rpc/add', post('[1,2]'), { text: '3' }]],
  session: [['', {}, { text: '1' }], ['', ({ cookie }) => get({ cookie }), { text: '2' }]],
  sse: ['', '/held'].flatMap(path => [[path, {}, EVENTS], [path, { method: 'HEAD' }, { status: 200, text: '' }]]),
  static: [
    ['/hello.html', {}, { text: HELLO }],
    ['/hello.html', get({ Range: 'bytes=0-4' }), { status: 206, text: 'hello' }],
    ['/none', {}, 404],
    only('/hello.txt', {}, 200) // with setHeaders
  ],
  template: [['', {}, { text: 'hello Ada\n' }]],
  timeout: [['', {}, { status: 503, text: 'Service Unavailable' }, 'Service Unavailable'], ['/late', {}, { text: 'late' }]],
  upload: [only('', { method: 'POST', body: FORM }, { json: [{ originalname: 'name.txt', size: 7 }] })],
  validate: [['?n=1', {}, { json: { query: 1 } }], ['?n=2', {}, 400]],
  views: [['', {}, { text: 'hello Bob\n' }]],
  websocket: [on => on === 'deno' ? ['', {}, 501, /^websocket: the package ws is missing/] : ['', {}, 426]]
}

// in this process, without a server
const node = {
  name: 'node',
  missing: false,
  async serve () {
    const { default: app } = await import(APP)
    const ask = (url, init) => app.fetch(new Request(url, init), { ip: '127.0.0.1' })
    return { url: 'http://localhost', ask, stop () {}, errors: () => '' }
  }
}

for (const { name: on, missing, serve } of [node, ...runtimes()]) {
  describe(`the set in app.fetch on ${on}`, { skip: missing }, () => {
    let server
    before(async () => { server = await serve(APP) })
    after(() => server?.stop())
    const ask = async (path, init) => seenOf(await (server.ask ?? fetch)(`${server.url}${path}`, init))

    for (const [name, requests] of Object.entries(CHECKS)) {
      it(`should do what ${name} promises, or name what it needs`, async () => {
        let first
        for (const request of requests) {
          const [path, init, expected, message = ''] = typeof request === 'function' ? request(on) : request
          const seen = await ask(`/${name}${path}`, typeof init === 'function' ? init(first) : init)
          first ??= seen
          const reported = (await ask('/errors')).json.join('\n')
          assertLike({ ...seen, reported }, { ...typeof expected === 'number' ? { status: expected } : expected, reported: message })
          // nothing uncaught, no warning but Deno's own, once, of what listens for a client that leaves
          assert.equal(server.errors().replace(/^(?:deno serve: Listening|Deno\.serve: request\.signal aborts).*\n/gm, ''), '')
        }
      })
    }
  })
}

describe('the middleware of this test', () => {
  it('should be the whole set', () => {
    assert.deepEqual(Object.keys(CHECKS), names())
  })
})

async function seenOf (res) {
  const bytes = Buffer.from(await res.arrayBuffer())
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString() // `fetch` decompresses, `app.fetch()` does not
  const json = res.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : undefined
  const cookie = res.headers.getSetCookie().map(one => one.split(';')[0]).join('; ')
  return { ...Object.fromEntries(res.headers), status: res.status, text, json, paths: Object.keys(json?.paths ?? {}), cookie }
}

/** A RegExp stands for the texts that it matches. */
function assertLike (seen, expected) {
  const like = ([name, value]) => [name, value instanceof RegExp && value.test(seen[name]) ? value : seen[name]]
  assert.deepEqual(Object.fromEntries(Object.entries(expected).map(like)), expected)
}
