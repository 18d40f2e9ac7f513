'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const runtimes = require('../../helpers/runtimes')
const until = require('../../helpers/until')

for (const { name, missing, serve } of runtimes()) {
  describe(`app.fetch on ${name}`, { skip: missing }, () => {
    let server, url

    before(async () => {
      server = await serve(path.join(__dirname, 'smoke.mjs'))
      url = server.url
    })

    after(() => server?.stop())

    it('should serve an app that is the default export, with the peer’s address', async () => {
      const res = await fetch(url, { headers: { 'X-Request-Id': 'mine' } })
      assert.equal(res.status, 200)
      assert.equal(res.headers.get('x-request-id'), 'mine')
      assert.equal(res.headers.get('x-content-type-options'), 'nosniff')
      const { ip, host, id } = await res.json()
      assert.match(ip, /^(?:::ffff:)?127\.0\.0\.1$/)
      assert.equal(host, new URL(url).host)
      assert.equal(id, 'mine')
    })

    it('should keep sessions in sealed cookies', async () => {
      const first = await fetch(`${url}/visits`)
      const cookie = first.headers.getSetCookie().map(one => one.split(';')[0]).join('; ')
      assert.deepEqual(await first.json(), { visits: 1 })
      assert.deepEqual(await (await fetch(`${url}/visits`, { headers: { cookie } })).json(), { visits: 2 })
    })

    it('should send requests by app.inject(), and say that WebSockets need Node', async () => {
      const { status, message } = await (await fetch(`${url}/inject`)).json()
      assert.equal(status, 200)
      assert.match(message, /^app\.inject\.websocket\(\) works on Node only, as websocket\(\) does, and this is (?:Bun|Deno) /)
    })

    it('should parse bodies, and refuse broken ones', async () => {
      const post = body => fetch(`${url}/echo`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
      const item = { text: 'x'.repeat(100000) }
      assert.deepEqual(await (await post(JSON.stringify(item))).json(), item)
      assert.equal((await post('{')).status, 400)
    })

    it('should cancel a body that nobody reads, and respond', async () => {
      assert.equal(await (await fetch(`${url}/unread`)).text(), 'cancelled')
      const post = () => fetch(`${url}/nope`, { method: 'POST', body: new Uint8Array(5e6) })
      for (let i = 0; i < 3; i++) assert.equal((await post()).status, 404)
      assert.equal((await fetch(url)).status, 200)
    })

    it('should stream', async () => {
      const res = await fetch(`${url}/stream`)
      assert.equal(res.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.equal(await res.text(), 'one two')
    })

    it('should send no length for a HEAD whose length nobody knows, and the right one otherwise', async () => {
      const head = async path => (await fetch(url + path, { method: 'HEAD' })).headers.get('content-length')
      assert.equal(await head('/stream'), null)
      assert.equal(await head('/visits'), '12') // {"visits":1}
    })

    it('should notify of a client that leaves before the response, at once', async () => {
      assert.equal(await (await fetch(`${url}/waits`)).text(), 'late')
      const abort = new AbortController()
      const request = fetch(`${url}/waits`, { signal: abort.signal })
      setTimeout(() => abort.abort(), 200)
      await assert.rejects(request)
      const left = await until(async () => {
        const all = await (await fetch(`${url}/left`)).json()
        return all.length === 2 && all
      })
      assert.deepEqual(left.map(({ code }) => code), ['ok', 'KONE_ERR_RESPONSE_LOST'])
      assert(left[1].waited < 1400, `noticed after ${left[1].waited} ms`)
    })

    it('should respond to errors, and with one clear error to a read of ctx.req', async () => {
      assert.equal((await fetch(`${url}/broken`)).status, 500)
      assert.equal((await fetch(`${url}/node`)).status, 500)
      assert.equal((await fetch(`${url}/nope`)).status, 404)
      const errors = server.errors()
      const lines = errors.split('\n').filter(line => /on purpose|ctx\.req/.test(line))
      assert.equal(lines.length, 2, errors)
      assert.equal(lines[0], 'broken on purpose')
      assert.match(lines[1], /^ctx\.req and ctx\.res exist on Node only, not in app\.fetch\(\) on (?:Bun|Deno): use /)
      // Deno's own, once, of what listens for a client that leaves: ctx.onFinished()
      assert.doesNotMatch(errors.replace(/^Deno\.serve: request\.signal aborts on successful responses.*$/m, ''), /abort/i)
    })
  })
}
