'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const requestId = require('kone/middleware/requestId')
const frameworks = require('../helpers/frameworks')

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

frameworks('requestId', ({ it, Koa, ask, wire }) => {
  const serve = options => {
    const app = new Koa()
    app.use(requestId(options))
    app.use(ctx => { ctx.body = ctx.state.id })
    return app
  }

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

  it('should replace junk', async () => {
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
  })

  it('should take it from the query, as koa-requestid does', async () => {
    const app = serve()
    assert.equal((await ask(app, 'GET /?requestId=foobar', { headers: { 'X-Request-Id': 'other' } })).text, 'foobar')
    assert.equal((await ask(app, 'GET /?requestId=a%0d%0ab', { headers: { 'X-Request-Id': 'other' } })).text, 'other')
    assert.match((await ask(app, 'GET /?requestId=a&requestId=b')).text, UUID)
    assert.match((await ask(serve({ query: false }), 'GET /?requestId=foobar')).text, UUID)
  })

  it('should take other names, and none', async () => {
    const app = serve({ header: 'Request-Id', expose: 'Request-Id', query: 'id' })
    const res = await ask(app, 'GET /?id=1')
    assert.deepEqual([res.text, res.headers['request-id'], res.headers['x-request-id']], ['1', '1', undefined])
    assert.equal((await ask(app, 'GET /', { headers: { 'request-id': 'r' } })).text, 'r')

    const off = await ask(serve({ header: false, expose: false }), 'GET /', { headers: { 'x-request-id': 'r' } })
    assert.match(off.text, UUID)
    assert.equal(off.headers['x-request-id'], undefined)
  })
})

describe('requestId', () => {
  it('should be a named function', () => {
    assert.equal(requestId().name, 'requestId')
  })

  it('should check its options at registration', () => {
    for (const name of ['header', 'query', 'expose']) {
      for (const value of [true, '', 'a b', 'a\r\nb', null]) {
        assert.throws(() => requestId({ [name]: value }), { name: 'TypeError', message: new RegExp(`options.${name}`) })
      }
    }
  })
})
