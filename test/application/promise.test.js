'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const Bluebird = require('bluebird')

const Kone = require('kone')
const engines = require('../helpers/engines')

describe("require('kone/bluebird')", () => {
  test('should be the class with bluebird preset', () => {
    const KoneOnBluebird = require('kone/bluebird')
    const app = new KoneOnBluebird()
    assert(app instanceof Kone)
    assert.equal(app.Promise, Bluebird)
    assert.equal(new KoneOnBluebird({ Promise }).Promise, Promise)
    assert.equal(KoneOnBluebird.HttpError, Kone.HttpError)
    assert.equal(KoneOnBluebird.compose, Kone.compose)
  })

  test('should never become the global promise', () => {
    require('kone/bluebird')
    assert.notEqual(global.Promise, Bluebird)
  })
})

describe('new Kone({ Promise })', () => {
  test('should be native by default', () => {
    assert.equal(new Kone().Promise, Promise)
  })

  for (const Class of [Bluebird, class Own extends Promise {}]) {
    test(`should give ${Class.name || 'bluebird'}’s promises out`, async () => {
      const app = new Kone({ Promise: Class })
      app.use(ctx => { ctx.respond = false })
      const fake = { headers: {}, socket: {}, method: 'GET', url: '/' }
      const res = { getHeader () {}, setHeader () {}, removeHeader () {}, on () {}, socket: {} }
      const promise = app.callback()(fake, res)
      assert(promise instanceof Class)
      await promise
      assert(app.inject('/x').catch(() => {}) instanceof Class)
    })
  }
})

engines('an app on bluebird', ({ it, ask }) => {
  const options = { app: { Promise: Bluebird, asyncLocalStorage: true } }

  it('should respond, and keep the context in .then()', async () => {
    const res = await ask(app => app.use((ctx, next) => next().then(() => {
      return Bluebird.delay(1).then(() => { ctx.body = app.currentContext === ctx ? 'kept' : 'lost' })
    })), 'GET /', options)
    assert.equal(res.text, 'kept')
  })

  it('should respond to errors', async () => {
    const res = await ask(app => app.use(() => Bluebird.reject(new Error('x'))), 'GET /', options)
    assert.equal(res.status, 500)
  })
})
