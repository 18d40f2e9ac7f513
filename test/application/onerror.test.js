'use strict'

const { describe, it: test, mock } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const vm = require('node:vm')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

const printed = (error, app = new Kone()) => {
  const spy = mock.method(console, 'error', () => {})
  try {
    app.onerror(error)
    return spy.mock.calls.map(call => call.arguments[0]).join('')
  } finally {
    spy.mock.restore()
  }
}

describe('app.onerror(err)', () => {
  test('should throw what is no error back', () => {
    const app = new Kone()
    for (const value of ['foo', null, { a: 1 }]) {
      assert.throws(() => app.onerror(value),
        { name: 'TypeError', message: `non-error thrown: ${JSON.stringify(value)}` })
    }
  })

  test('should print the stack, indented', () => {
    const error = Object.assign(new Error('x'), { stack: 'Foo\n  bar' })
    assert.equal(printed(error), '\n  Foo\n    bar\n')
  })

  test('should print the error when it has no stack', () => {
    const error = Object.assign(new Error('mock stack null'), { stack: null })
    assert.equal(printed(error), '\n  Error: mock stack null\n')
  })

  test('should print an error of another realm', () => {
    assert.match(printed(vm.runInNewContext("new Error('alien')")), /alien/)
  })

  test('should not print what the client may see, 404s, nor anything when silent', () => {
    assert.equal(printed(Object.assign(new Error('x'), { status: 404 })), '')
    assert.equal(printed(Object.assign(new Error('x'), { expose: true })), '')
    const app = new Kone()
    app.silent = true
    assert.equal(printed(new Error('x'), app), '')
  })
})

describe("a listener of 'error' that throws", () => {
  test('should end where uncaught errors do, after the client has its response', () => {
    const script = `
      const Kone = require(${JSON.stringify(require.resolve('kone'))})
      const app = new Kone()
      app.on('error', () => { throw new Error('of the listener') })
      app.use(() => { throw new Error('of the app') })
      process.on('uncaughtException', error => console.log('uncaught', error.message))
      app.inject('/').then(res => console.log('responded', res.status))
    `
    const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
    assert.match(stdout, /uncaught of the listener/)
    assert.match(stdout, /responded 500/)
  })
})

engines("app.on('error')", ({ it, ask, serve }) => {
  it('should get an error of the connection, with the ctx', {
    skip: { http2: 'has one connection for many requests', inject: 'has no connection' }
  }, async () => {
    const { app, ask } = await serve(app => app.use(ctx => {
      ctx.socket.emit('error', new Error('boom'))
    }))
    const seen = []
    app.on('error', (error, ctx) => seen.push([error.message, ctx.path]))
    await ask('GET /broken').catch(() => {})
    assert.deepEqual(seen, [['boom', '/broken']])
  })

  it('should replace the default handler', async t => {
    const spy = t.mock.method(console, 'error', () => {})
    const seen = []
    const res = await ask(app => {
      app.silent = false
      app.on('error', error => seen.push(error.message))
      app.use(() => { throw new Error('boom') })
    }, 'GET /')
    assert.equal(res.status, 500)
    assert.deepEqual(seen, ['boom'])
    assert.equal(spy.mock.callCount(), 0)
  })

  it('should print by default', async t => {
    const spy = t.mock.method(console, 'error', () => {})
    await ask(app => {
      app.silent = false
      app.use(() => { throw new Error('printed boom') })
    }, 'GET /')
    assert.equal(spy.mock.callCount(), 1)
    assert.match(spy.mock.calls[0].arguments[0], /printed boom/)
  })
})
