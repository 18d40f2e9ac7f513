'use strict'

const assert = require('node:assert/strict')
const requestId = require('kone/middleware/requestId')
const frameworks = require('../helpers/frameworks')

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

frameworks('requestId', ({ it, Koa, ask, wire }) => {
  const serve = options => new Koa().use(requestId(options)).use(ctx => { ctx.body = ctx.state.id })

  it('should make a new id and tell it', async () => {
    const app = serve()
    const first = await ask(app, 'GET /')
    assert.match(first.text, UUID)
    assert.equal(first.headers['x-request-id'], first.text)
    assert.notEqual((await ask(app, 'GET /')).text, first.text)
  })

  it('should keep a clean id of the client', async () => {
    const app = serve()
    for (const id of ['a', 'A-Z_a.z:0=9+/@', 'x'.repeat(128)]) {
      const res = await ask(app, 'GET /', { headers: { 'X-Request-Id': id } })
      assert.deepEqual([res.text, res.headers['x-request-id']], [id, id])
    }
  })

  it('should make an id in place of one that is too long or has other characters', async () => {
    const app = serve()
    for (const id of ['', ' ', 'a b', 'x'.repeat(129), 'a\tb', '<b>', 'a"b', 'é', '\u001b[31m', 'a,b', '{x}', '%0d%0a']) {
      const bytes = `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: ${id}\r\n\r\n`
      const answer = await wire(app, Buffer.from(bytes, 'latin1'))
      // a control byte in a header never reaches the app
      if (answer.startsWith('HTTP/1.1 400')) continue
      assert.match(/^X-Request-Id: (.*)\r$/im.exec(answer)[1], UUID, JSON.stringify(id))
    }
    const twice = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n'
    assert.match(/^X-Request-Id: (.*)\r$/im.exec(await wire(app, twice))[1], UUID)
    assert.equal((await ask(app, 'GET /?requestId=a%0d%0ab', { headers: { 'X-Request-Id': 'other' } })).text, 'other')
  })
})
