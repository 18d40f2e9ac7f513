'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { names } = require('../../../tools/middleware-index')
const runtimes = require('../../helpers/runtimes')

const APP = path.join(__dirname, 'set', 'app.mjs')
const JSON_TYPE = { 'Content-Type': 'application/json' }
const CACHED = { 'Cache-Control': 'max-age=0', Pragma: 'x' } // fetch would send no-cache
const NODE_ONLY = /^ctx\.req and ctx\.res exist on Node only, not in app\.fetch\(\) on (?:Bun|Deno): use /
const cookieOf = res => res.headers.getSetCookie().map(one => one.split(';')[0]).join('; ')

/** By name: what a client of the middleware sees. `on` is the runtime's name. */
const CHECKS = {
  async bodyParser (ask) {
    const body = { text: 'x'.repeat(100_000) }
    assert.deepEqual(await (await ask('', { method: 'POST', body: JSON.stringify(body), headers: JSON_TYPE })).json(), body)
    assert.equal((await ask('', { method: 'POST', body: '{', headers: JSON_TYPE })).status, 400)
  },
  async compress (ask) {
    for (const path of ['', '/stream']) {
      const res = await ask(path, { headers: { 'Accept-Encoding': 'gzip' } })
      assert.equal(res.headers.get('content-encoding'), 'gzip')
      assert.equal(await textOf(res), 'many words '.repeat(1000))
    }
  },
  async conditionalGet (ask) {
    const etag = (await ask('')).headers.get('etag')
    assert.equal((await ask('', { headers: { 'If-None-Match': etag, ...CACHED } })).status, 304)
  },
  async cors (ask) {
    const res = await ask('', { headers: { Origin: 'http://a.test' } })
    assert.equal(res.headers.get('access-control-allow-origin'), '*')
  },
  async csrf (ask) {
    const page = await ask('')
    const headers = { cookie: cookieOf(page), 'x-csrf-token': await page.text() }
    assert.equal((await ask('', { method: 'POST', headers })).status, 200)
    assert.equal((await ask('', { method: 'POST', headers: { cookie: headers.cookie } })).status, 403)
  },
  async etag (ask) {
    assert.match((await ask('')).headers.get('etag'), /^"/)
  },
  async favicon (ask) {
    assert.equal(await (await ask('')).text(), 'hello {{ name }}\n')
  },
  async health (ask) {
    assert.equal((await ask('/healthz')).status, 200)
    assert.equal((await ask('/readyz')).status, 503)
    return ['down on purpose']
  },
  async helmet (ask, on) {
    assert.equal((await ask('')).headers.get('x-content-type-options'), 'nosniff')
    assert.equal((await ask('/nonce')).status, on === 'node' ? 200 : 500)
    return on === 'node' ? [] : [NODE_ONLY]
  },
  async i18n (ask) {
    assert.equal(await (await ask('', { headers: { 'Accept-Language': 'de' } })).text(), 'hallo')
  },
  async isolate (ask, on) {
    const res = await ask('')
    assert.equal(res.status, on === 'node' ? 500 : 501)
    return [on === 'node' ? 'in a timer' : /^isolate: it works on Node only, because /]
  },
  async jsonp (ask) {
    assert.equal(await (await ask('?callback=f')).text(), '/**/f({"a":1});')
  },
  async logger (ask) {
    await (await ask('/a')).text()
    const lines = await (await ask('/lines')).json()
    assert.match(lines[0], /^GET \/logger\/a 200 \S*127\.0\.0\.1 1\.1$/)
  },
  async metrics (ask) {
    await ask('')
    assert.match(await (await ask('/metrics')).text(), /^http_request_duration_seconds_count\{.*\} 1$/m)
  },
  async openapi (ask) {
    assert.deepEqual(Object.keys((await (await ask('/openapi.json')).json()).paths), ['/items/{id}'])
  },
  async overload (ask, on) {
    assert.equal((await ask('')).status, 200)
    assert.equal((await ask('/full')).status, 503)
    assert.equal((await ask('/utilization')).status, on === 'node' ? 200 : 500)
    return on === 'node' ? [] : [/^overload\.maxEventLoopUtilization: it works on Node only, because /]
  },
  async rateLimit (ask) {
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await ask('')).status)
    assert.deepEqual(statuses, [200, 200, 429])
  },
  async requestId (ask) {
    assert.equal(await (await ask('', { headers: { 'X-Request-Id': 'mine' } })).text(), 'mine')
    assert.match(await (await ask('')).text(), /^[\w-]{10,}$/)
  },
  async router (ask) {
    assert.deepEqual(await (await ask('/items/5')).json(), { id: '5' })
  },
  async rpc (ask) {
    assert.equal(await (await ask('/rpc/add', { method: 'POST', body: '[1,2]', headers: JSON_TYPE })).text(), '3')
  },
  async session (ask) {
    const first = await ask('')
    assert.equal(await (await ask('', { headers: { cookie: cookieOf(first) } })).text(), '2')
  },
  async sse (ask) {
    for (const path of ['', '/held']) {
      const res = await ask(path)
      assert.equal(res.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.match(await res.text(), /^data: one\n\n(?::\n\n)*data: two\n\n$/)
      const head = await ask(path, { method: 'HEAD' })
      assert.deepEqual([head.status, await head.text()], [200, ''])
    }
  },
  async static (ask, on) {
    assert.equal(await (await ask('/hello.html')).text(), 'hello {{ name }}\n')
    const part = await ask('/hello.html', { headers: { Range: 'bytes=0-4' } })
    assert.deepEqual([part.status, await part.text()], [206, 'hello'])
    assert.equal((await ask('/none')).status, 404)
    assert.equal((await ask('/hello.txt')).status, on === 'node' ? 200 : 500) // with setHeaders
    return on === 'node' ? [] : [NODE_ONLY]
  },
  async template (ask) {
    assert.equal(await (await ask('')).text(), 'hello Ada\n')
  },
  async timeout (ask) {
    const res = await ask('')
    assert.deepEqual([res.status, await res.text()], [503, 'Service Unavailable'])
    assert.equal(await (await ask('/late')).text(), 'late')
    return ['Service Unavailable']
  },
  async upload (ask, on) {
    const body = new FormData()
    body.append('file', new Blob(['content']), 'name.txt')
    const res = await ask('', { method: 'POST', body })
    if (on === 'node') {
      assert.deepEqual(await res.json(), [{ originalname: 'name.txt', size: 7 }])
      return []
    }
    assert.equal(res.status, 500)
    return [NODE_ONLY]
  },
  async validate (ask) {
    assert.deepEqual(await (await ask('?n=1')).json(), { query: 1 })
    assert.equal((await ask('?n=2')).status, 400)
  },
  async views (ask) {
    assert.equal(await (await ask('')).text(), 'hello Bob\n')
  }
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
    const ask = (path, init) => (server.ask ?? fetch)(`${server.url}${path}`, init)

    for (const [name, check] of Object.entries(CHECKS)) {
      it(`should do what ${name} promises, or name what it needs`, async () => {
        const reports = await check((path, init) => ask(`/${name}${path}`, init), on) ?? []
        const reported = await (await ask('/errors')).json()
        assert.equal(reported.length, reports.length, reported.join('\n'))
        reported.forEach((message, i) => {
          if (reports[i] instanceof RegExp) assert.match(message, reports[i])
          else assert.equal(message, reports[i])
        })
        assert.equal(server.errors().replace(/^deno serve: Listening.*\n/m, ''), '') // nothing uncaught, no warning
      })
    }
  })
}

describe('the middleware of this test', () => {
  it('should be the whole set', () => {
    assert.deepEqual(Object.keys(CHECKS), names())
  })
})

/** `fetch` decompresses a response, `app.fetch()` does not. */
async function textOf (res) {
  const bytes = Buffer.from(await res.arrayBuffer())
  return bytes[0] === 0x1f ? require('node:zlib').gunzipSync(bytes).toString() : bytes.toString()
}
