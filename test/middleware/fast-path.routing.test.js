'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Kone = require('kone')
const { router: Router, bodyParser, rpc, isolate, timeout, requestId } = require('kone/middleware')
const until = require('../helpers/until')

describe("kone's front", () => {
  it("should never make node's request and response for router, bodyParser, rpc, isolate, timeout and requestId", async () => {
    const app = new Kone()
    const router = new Router()
    const finished = []
    router.get('/users/:id', ctx => { ctx.body = ctx.params.id })
    router.post('/users', ctx => { ctx.body = ctx.request.body })
    app.use(isolate()).use(timeout(5000)).use(requestId()).use(bodyParser({ enableTypes: ['json', 'form', 'text'] }))
    app.use(rpc({ add: (a, b) => a + b }))
    app.use(router.routes()).use(router.allowedMethods())
    app.on('finish', ctx => finished.push([ctx.url, ctx.request.incoming.req, ctx.response.outgoing.res]))

    const server = app.listen(0, '127.0.0.1')
    if (!server.listening) await require('node:events').once(server, 'listening')
    const url = `http://127.0.0.1:${server.address().port}`
    const post = (path, type, body) => fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body })
    try {
      assert.equal(await (await fetch(`${url}/users/7`)).text(), '7')
      assert.deepEqual(await (await post('/users', 'application/json', '{"a":1}')).json(), { a: 1 })
      assert.deepEqual(await (await post('/users', 'application/x-www-form-urlencoded', 'a=1')).json(), { a: '1' })
      assert.equal(await (await post('/users', 'text/plain', 'hi')).text(), 'hi')
      assert.equal(await (await post('/rpc/add', 'application/json', '[1,2]')).text(), '3')
      assert.equal((await fetch(`${url}/none`)).status, 404)
      assert.equal((await fetch(`${url}/users`)).status, 405)
      await until(() => finished.length >= 7)
      for (const [url, req, res] of finished) assert.deepEqual([req, res], [null, null], url)
    } finally {
      await app.close({ grace: 0 })
    }
  })
})
