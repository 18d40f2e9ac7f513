'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const health = require('kone/middleware/health')
const Kone = require('../helpers/kone')
const request = require('../helpers/request')

const turns = async () => { for (let i = 0; i < 3; i++) await new Promise(resolve => setImmediate(resolve)) }

function make () {
  const app = new Kone()
  const steps = []
  app.on('error', err => steps.push(err.message))
  const step = (name, options) => app.onClose(async () => {
    steps.push(name)
    await turns()
    steps.push(`${name} over`)
  }, options)
  return { app, steps, step }
}

describe('app.onClose(fn)', () => {
  it('should call each once, one after the other, the last one first, and report what one throws', async () => {
    const { app, steps, step } = make()
    step('first')
    assert.equal(app.onClose(() => { throw new Error('thrown') }), app)
    app.onClose(async () => { throw 'no error' }) // eslint-disable-line no-throw-literal
    step('last')
    await app.close()
    const expected = ['last', 'last over', 'non-error thrown: "no error"', 'thrown', 'first', 'first over']
    assert.deepEqual(steps, expected)
    await app.close()
    assert.deepEqual(steps, expected)
    step('later')
    await app.close()
    assert.deepEqual(steps, [...expected, 'later', 'later over'])
  })

  it('should call them when the last response was sent, also those that are added meanwhile', async () => {
    const { app, steps, step } = make()
    const held = new EventEmitter()
    app.use(async ctx => {
      steps.push('request')
      held.emit('request')
      await once(held, 'release')
      step('added by the request')
      ctx.body = 'whole'
    })
    step('after')
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const asked = once(held, 'request')
    const response = request(server.address().port, 'GET /')
    await asked
    const closed = [app.close({ grace: 0 }), app.close({ grace: 0 })]
    await turns()
    assert.deepEqual(steps, ['request'])
    held.emit('release')
    assert.equal((await response).text, 'whole')
    await closed[1]
    assert.deepEqual(steps, ['request', 'added by the request', 'added by the request over', 'after', 'after over'])
    await closed[0]
  })

  it('should call those with before: true while the server accepts', async () => {
    const { app, steps, step } = make()
    app.use(ctx => { ctx.body = 'served' })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    step('after')
    app.onClose(async () => {
      steps.push((await request(port, 'GET /')).text, String(server.listening))
    }, { before: true })
    await app.close({ grace: 0 })
    assert.deepEqual(steps, ['served', 'true', 'after', 'after over'])
    await assert.rejects(request(port, 'GET /'), { code: 'ECONNREFUSED' })
  })

  it('should leave and name what is not over in time, and call the others', async () => {
    for (const timeout of [0, 600]) {
      const { app, step } = make()
      const errors = []
      app.on('error', err => errors.push(err))
      step('first')
      app.onClose(function closesNever () { return new Promise(() => {}) })
      const began = performance.now()
      await app.close({ timeout })
      assert(performance.now() - began >= Math.max(timeout, 500) - 5)
      const [{ code, message }] = errors
      assert.equal(errors.length, 1)
      assert.equal(code, 'KONE_ERR_CLOSE_TIMEOUT')
      assert.match(message, new RegExp(`^app\\.onClose\\(\\): closesNever, ${__filename.replaceAll('.', '\\.')}:\\d+ was not over within ${timeout} ms$`))
    }
  })

  it('should need no listener of errors, and bear one that expects a ctx', async t => {
    const { mock } = t.mock.method(console, 'error', () => {})
    for (const listen of [() => {}, app => app.on('error', (err, ctx) => console.log(err, ctx.path))]) {
      const app = new Kone()
      let called = false
      app.onClose(() => { called = true })
      app.onClose(() => { throw new Error('thrown') })
      listen(app)
      await app.close({ timeout: Infinity })
      assert(called)
      assert.match(mock.calls.map(call => String(call.arguments[0])).join(), /thrown/)
      mock.resetCalls()
    }
  })

  it('should refuse what is no function, and unknown options', () => {
    for (const wrong of [undefined, 'fn', Promise.resolve(), function * () {}]) {
      assert.throws(() => new Kone().onClose(wrong), { name: 'TypeError', message: /^app\.onClose\(fn\): fn must be a plain or async function, not / })
    }
    assert.throws(() => new Kone().onClose(() => {}, { befor: true }), /did you mean `before`/)
  })
})

describe('health with app.onClose()', () => {
  it('should call its functions when the app is closed, once, and not be ready before', async () => {
    const { app, steps } = make()
    const probes = health({
      beforeShutdown: async () => { steps.push((await app.inject('/readyz')).text()) },
      afterShutdown: () => { steps.push('after') }
    })
    app.use(probes)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    steps.push((await request(server.address().port, 'GET /readyz')).text)
    await probes.shutdown(() => app.close({ grace: 0 }))
    await app.close()
    assert.deepEqual(steps, ['up', 'down', 'after'])
  })
})
