'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { AsyncLocalStorage } = require('node:async_hooks')
const health = require('kone/middleware/health')
const overload = require('kone/middleware/overload')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

/** Keep the event loop busy. */
function block (ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const statuses = text => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
const request = (path, fields = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`

frameworks('overload', ({ it, Koa, ask, wire }) => {
  const serve = (options, handler = ctx => { ctx.body = 'ok' }) => {
    const app = new Koa()
    app.reached = 0
    app.use(overload(options))
    app.use(ctx => { app.reached++; return handler(ctx) })
    return app
  }

  it('should refuse what waits behind a busy event loop, before any other work', async () => {
    const app = serve({ maxEventLoopDelay: 20, retryAfter: 3 }, ctx => { block(60); ctx.body = 'ok' })
    // all are read in one turn of the event loop
    const text = await wire(app, request('/1') + request('/2') + request('/3', 'Connection: close\r\n'))
    assert.deepEqual(statuses(text), [200, 503, 503])
    assert.equal(app.reached, 1)
    const refused = text.split('HTTP/1.1 ').at(-1)
    assert.match(refused, /^Retry-After: 3\r$/mi)
    assert.match(refused, /^Cache-Control: no-store\r$/mi)
    assert.match(refused, /\r\n\r\nService Unavailable$/)
    await until(async () => (await ask(app, 'GET /')).status === 200) // it is over
  })

  it('should refuse connections that wait where the event loop does not see them', async () => {
    const storage = new AsyncLocalStorage()
    const app = new Koa()
    app.use(health({ checks: { load: () => !overload.state().isOverloaded } }))
    app.use((ctx, next) => storage.run(ctx, next))
    app.use(overload({ maxEventLoopDelay: 30, sampleInterval: 60_000 }))
    app.use(ctx => {
      block(5)
      ctx.body = storage.getStore() === ctx ? 'own' : 'other'
    })
    const before = overload.state().refused.eventLoopDelay ?? 0
    assert.equal((await ask(app, 'GET /readyz')).status, 200)
    const each = () => wire(app, request('/', 'Connection: close\r\n'))
    const all = await Promise.all(Array.from({ length: 100 }, each)) // each iteration of the event loop accepts one
    const [accepted, refused] = [200, 503].map(status => all.filter(text => statuses(text)[0] === status))
    assert.equal(accepted.length + refused.length, 100)
    assert(accepted.every(text => text.endsWith('\r\n\r\nown')))
    assert(accepted.length > 0 && accepted.length < refused.length, `${accepted.length} accepted`) // before: all of them
    assert.equal(overload.state().refused.eventLoopDelay, before + refused.length)
    assert.equal((await ask(app, 'GET /readyz')).status, 503)
    await until(async () => (await ask(app, 'GET /')).status === 200)
  })

  it('should let everything pass without limits', async () => {
    const app = serve({ maxEventLoopDelay: false }, ctx => { block(30); ctx.body = 'ok' })
    assert.deepEqual(statuses(await wire(app, request('/1') + request('/2', 'Connection: close\r\n'))), [200, 200])
  })

  it('should refuse above a limit of memory, and not below it', async () => {
    for (const [option, reason] of [['maxRssBytes', 'rssBytes'], ['maxHeapUsedBytes', 'heapUsedBytes']]) {
      const before = overload.state().refused[reason] ?? 0
      assert.equal((await ask(serve({ maxEventLoopDelay: false, [option]: 1 }), 'GET /')).status, 503)
      assert.equal(overload.state().refused[reason], before + 1)
      assert(overload.state()[reason] > 1)
      assert.equal(overload.state().isOverloaded, true)
      assert.equal((await ask(serve({ maxEventLoopDelay: false, [option]: '1000gb' }), 'GET /')).status, 200)
      assert.equal(overload.state().isOverloaded, false)
    }
  })

  it('should refuse while the event loop is busier than its share, and again accept', async () => {
    const app = serve({ maxEventLoopDelay: false, maxEventLoopUtilization: 0.5, sampleInterval: 10 })
    assert.equal((await ask(app, 'GET /')).status, 200) // begins to measure
    await until(async () => {
      block(20)
      return (await ask(app, 'GET /')).status === 503
    })
    await until(async () => {
      await new Promise(resolve => setTimeout(resolve, 20)) // an idle event loop
      return (await ask(app, 'GET /')).status === 200
    })
  })
})

describe('overload', () => {
  it('should not wake an idle process, nor keep it alive', async () => {
    const Monitor = require('../../middleware/overload/monitor')
    const monitor = new Monitor({ maxEventLoopDelay: 50, sampleInterval: 1000 })
    monitor.check(performance.now())
    assert.equal(monitor.timer.hasRef(), false)
    const keepAlive = setInterval(() => {}, 5)
    await until(() => monitor.timer === undefined)
    clearInterval(keepAlive)
    assert.equal(monitor.state().eventLoopDelay, 0)
  })
})
