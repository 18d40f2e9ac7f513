'use strict'

const assert = require('node:assert/strict')
const original = require('koa-requestid')
const requestId = require('kone/middleware/requestId')
const frameworks = require('../helpers/frameworks')

// Intentional differences: the header's name begins with X-, and an id that is not clean is replaced.

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
const NAMES = { header: 'Request-Id', expose: 'Request-Id' }

frameworks('requestId beside koa-requestid', ({ it, Koa, ask }) => {
  it('should give the same id, from the same places', async () => {
    for (const options of [
      {}, { query: false }, { header: false }, { header: false, query: false }, { expose: false }, { query: 'id' },
      { header: 'X-Trace', expose: 'X-Trace-Id' }
    ]) {
      const apps = [original, requestId].map(make => {
        return new Koa().use(make({ ...NAMES, ...options })).use(ctx => { ctx.body = ctx.state.id })
      })
      for (const target of ['/', '/?requestId=q', '/?id=other', '/?requestId=', '/?requestId=q&id=r']) {
        for (const headers of [{}, { 'Request-Id': 'h' }, { 'X-Trace': 't' }, { 'Request-Id': 'h', 'X-Trace': 't' }]) {
          const [theirs, ours] = await Promise.all(apps.map(async app => {
            const res = await ask(app, `GET ${target}`, { headers })
            const seen = [res.text, res.headers['request-id'], res.headers['x-trace-id'], res.headers['x-request-id']]
            return seen.map(id => id?.replace(UUID, 'made'))
          }))
          assert.deepEqual(ours, theirs, `${JSON.stringify(options)} ${target} ${JSON.stringify(headers)}`)
        }
      }
    }
  })

  it('should differ by its names and for junk alone', async () => {
    const answers = await Promise.all([original, requestId].map(async make => {
      const app = [make(make === original ? undefined : {}), ctx => { ctx.body = ctx.state.id }]
      const ids = []
      for (const [name, id] of [['Request-Id', 'a'], ['X-Request-Id', 'a'], ['Request-Id', 'a b'], ['X-Request-Id', 'a b']]) {
        ids.push((await ask(app, 'GET /', { headers: { [name]: id } })).text.replace(UUID, 'made'))
      }
      return ids
    }))
    assert.deepEqual(answers, [['a', 'made', 'a b', 'made'], ['made', 'a', 'made', 'made']])
  })
})
