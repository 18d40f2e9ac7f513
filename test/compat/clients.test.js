'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, before, describe, it } = require('node:test')
const supertest = require('supertest')
const { Agent, request } = require('undici')
const Kone = require('../helpers/kone')

function app () {
  return new Kone().use(async ctx => {
    if (ctx.path === '/missing') return
    let text = ''
    for await (const chunk of ctx.req) text += chunk
    ctx.set('X-Method', ctx.method)
    ctx.body = { path: ctx.path, text }
  })
}

describe('supertest', () => {
  for (const [what, of] of Object.entries({ 'app.callback()': app => app.callback(), 'a server of app.listen()': app => app.listen(0) })) {
    it(`should test ${what}`, async () => {
      const target = of(app())
      try {
        await supertest(target).post('/a').send('hi').set('Content-Type', 'text/plain')
          .expect(200, { path: '/a', text: 'hi' })
          .expect('X-Method', 'POST')
        await supertest(target).get('/missing').expect(404, 'Not Found')
      } finally {
        target.close?.()
      }
    })
  }
})

describe('undici', () => {
  let server, origin, dispatcher

  before(async () => {
    server = app().listen(0)
    await once(server, 'listening')
    origin = `http://127.0.0.1:${server.address().port}`
    dispatcher = new Agent({ connections: 1, pipelining: 10 })
  })

  after(async () => {
    await dispatcher.close()
    server.close()
  })

  it('should get every response of a pipelined connection, in its order', async () => {
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
    const bodies = await Promise.all(paths.map(async path => {
      const { statusCode, body } = await request(origin + path, { dispatcher })
      assert.equal(statusCode, 200)
      return body.json()
    }))
    assert.deepEqual(bodies.map(({ path }) => path), paths)
  })

  it('should send a body', async () => {
    const { headers, body } = await request(`${origin}/put`, { dispatcher, method: 'PUT', body: 'hi' })
    assert.equal(headers['x-method'], 'PUT')
    assert.deepEqual(await body.json(), { path: '/put', text: 'hi' })
  })
})
