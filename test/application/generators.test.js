'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

// The deprecation is looked at in a test of its own.
process.noDeprecation = true

describe('app.use(function * () {})', () => {
  test('should warn that generators are of the past, once per place', () => {
    const warnings = []
    process.noDeprecation = false
    const listen = warning => warnings.push(warning)
    process.on('deprecation', listen)
    try {
      new Kone().use(function * () {})
    } finally {
      process.removeListener('deprecation', listen)
      process.noDeprecation = true
    }
    assert.equal(warnings.length, 1)
    assert.match(warnings[0].message, /Support for generators will be removed/)
    assert.equal(warnings[0].namespace, 'koa')
  })

  test('should not warn of async functions', () => {
    const listen = () => assert.fail('there was a warning')
    process.on('deprecation', listen)
    new Kone().use(async () => {}).use(() => {})
    process.removeListener('deprecation', listen)
  })
})

engines('generator middleware', ({ it, ask }) => {
  it('should have ctx as this, yield next and promises', async () => {
    const calls = []
    const res = await ask(app => {
      app.use(function * (next) {
        calls.push(1)
        yield next
        calls.push(5)
        this.body = `${this.body} ${yield Promise.resolve('world')}`
      })
      app.use(async (ctx, next) => {
        calls.push(2)
        await next()
        calls.push(4)
      })
      app.use(function * () {
        calls.push(3)
        this.body = 'hello'
      })
    }, 'GET /')
    assert.equal(res.text, 'hello world')
    assert.deepEqual(calls, [1, 2, 3, 4, 5])
  })

  it('should yield* next', async () => {
    const res = await ask(app => app.use(function * (next) {
      yield * next
      this.body += '!'
    }).use(ctx => { ctx.body = 'hi' }), 'GET /')
    assert.equal(res.text, 'hi!')
  })

  it('should throw and catch', async () => {
    const setup = app => app.use(function * (next) {
      try {
        yield next
      } catch (error) {
        this.status = 418
        this.body = error.message
      }
    }).use(function * () { throw new Error('inside') })
    const res = await ask(setup, 'GET /')
    assert.equal(res.status, 418)
    assert.equal(res.text, 'inside')
    assert.equal((await ask(app => app.use(function * () { this.throw(403, 'no') }), 'GET /')).text, 'no')
  })
})
