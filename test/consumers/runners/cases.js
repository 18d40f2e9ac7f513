'use strict'

// without the prefix: Jest 26 does not find node:http
const assert = require('assert/strict')
const http = require('http')
const createApp = require('./app')

// What their packages need, and jsdom has not.
const noTextEncoder = typeof TextEncoder === 'undefined' && 'supertest and undici need TextEncoder'
const noUndici = noTextEncoder || (typeof structuredClone === 'undefined' && 'undici needs a Jest from 27.1 on')
const noRequest = typeof Request === 'undefined' && 'there is no Request'

/**
 * The ways to test an app, for whatever runner defines `it`. None of them closes more than its reader would.
 *
 * @param {(title: String, options: { skip: String|false }, fn: Function) => void} it
 */
module.exports = function cases (it) {
  it('every entry', { skip: false }, () => {
    for (const entry of ['application', 'context', 'request', 'response']) assert(require(`kone/lib/${entry}`))
    assert(Object.values(require('kone/middleware')).every(middleware => typeof middleware === 'function'))
  })

  it('node:http on a server that listens', { skip: false }, async () => {
    const app = createApp()
    const server = app.listen(0)
    for (const path of ['/hello/tobi', '/hello/again']) {
      const { status, text } = await get(server.address().port, path)
      assert.equal(status, 200)
      assert.equal(text, `Hello ${path.slice(7)}`)
    }
    assert.equal((await get(server.address().port, '/count')).text, '{"count":1}')
    assert.equal((await get(server.address().port, '/events')).text, 'data: tick\n\n')
    await app.close()
  })

  it('app.inject()', { skip: false }, async () => {
    const res = await createApp().inject({ method: 'POST', url: '/echo', body: { a: 1 } })
    assert.equal(res.text(), '{"a":1}')
  })

  it('app.fetch()', { skip: noRequest }, async () => {
    const res = await createApp().fetch(new Request('http://localhost/hello/web'))
    assert.equal(await res.text(), 'Hello web')
  })

  it('supertest on callback()', { skip: noTextEncoder }, async () => {
    const agent = require('supertest').agent(createApp().callback())
    await agent.get('/hello/tobi').expect(200, 'Hello tobi')
    await agent.post('/echo').send({ a: 1 }).expect(200, { a: 1 })
    await agent.get('/count').expect(200, { count: 1 })
    await agent.get('/count').expect(200, { count: 2 })
  })

  it('supertest on a server that listens, closed by node', { skip: noTextEncoder }, async () => {
    const server = createApp().listen(0)
    const request = require('supertest')
    await request(server).get('/hello/tobi').expect(200, 'Hello tobi')
    await request(server).get('/count').expect(200, { count: 1 })
    await new Promise(resolve => server.close(resolve))
  })

  it('undici with a connection that is kept, closed by app.close()', { skip: noUndici }, async () => {
    const { Pool } = require('undici')
    const app = createApp()
    const server = app.listen(0)
    const pool = new Pool(`http://localhost:${server.address().port}`)
    for (let i = 0; i < 2; i++) {
      const { statusCode, body } = await pool.request({ path: '/hello/undici', method: 'GET' })
      assert.equal(statusCode, 200)
      assert.equal(await body.text(), 'Hello undici')
    }
    await Promise.all([app.close(), pool.close()])
  })
}

function get (port, path) {
  return new Promise((resolve, reject) => {
    http.get({ port, path, agent: false }, res => {
      let text = ''
      res.setEncoding('utf8').on('data', chunk => { text += chunk })
      res.on('end', () => resolve({ status: res.statusCode, text }))
    }).on('error', reject)
  })
}
