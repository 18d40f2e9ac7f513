'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const health = require('kone/middleware/health')
const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')

frameworks('health', ({ it, Koa, ask, listen, errors, name }) => {
  const serve = options => {
    const app = new Koa()
    app.use(health(options))
    app.use(ctx => { ctx.body = 'next' })
    return app
  }
  const probe = async (app, line) => {
    const res = await ask(app, line)
    return `${res.status} ${res.text}`
  }

  it('should be alive and ready, uncached', async () => {
    const app = serve()
    assert.equal(await probe(app, 'GET /healthz'), '200 alive')
    assert.equal(await probe(app, 'GET /readyz'), '200 ready')
    const head = await ask(app, 'HEAD /readyz')
    assert.deepEqual([head.status, head.text, head.headers['cache-control']], [200, '', 'no-store'])
  })

  it('should leave other paths and methods to the next', async () => {
    const app = serve()
    for (const line of ['GET /', 'GET /healthz/', 'POST /healthz', 'POST /readyz']) {
      assert.equal(await probe(app, line), '200 next', line)
    }
  })

  it('should take other paths, and none', async () => {
    const app = serve({ live: false, ready: '/up' })
    assert.equal(await probe(app, 'GET /up'), '200 ready')
    assert.equal(await probe(app, 'GET /healthz'), '200 next')
    assert.equal(await probe(app, 'GET /readyz'), '200 next')
  })

  it('should not be ready while a check fails, and report the first failure', async () => {
    let fails = []
    const app = serve({
      checks: {
        redis: async () => { if (fails.includes('redis')) throw new Error('secret address') },
        disk: () => !fails.includes('disk'),
        queue: () => { if (fails.includes('queue')) throw 'text' } // eslint-disable-line no-throw-literal
      }
    })
    errors.length = 0
    assert.equal(await probe(app, 'GET /readyz'), '200 ready')
    fails = ['redis', 'disk', 'queue']
    assert.equal(await probe(app, 'GET /readyz'), '503 no redis, disk, queue')
    fails = ['redis']
    assert.equal(await probe(app, 'GET /readyz'), '503 no redis')
    assert.equal(await probe(app, 'GET /healthz'), '200 alive')
    assert.deepEqual(errors.map(err => err.message).sort(), ['health: disk is not there', 'health: queue: text', 'secret address'])
    fails = []
    assert.equal(await probe(app, 'GET /readyz'), '200 ready')
    fails = ['redis']
    assert.equal(await probe(app, 'GET /readyz'), '503 no redis')
    assert.equal(errors.length, 4)
  })

  it('should give a check its time, and no more', async () => {
    errors.length = 0
    const app = serve({ timeout: 20, checks: { slow: () => new Promise(() => {}) } })
    assert.equal(await probe(app, 'GET /readyz'), '503 no slow')
    assert.equal(errors[0].message, 'health: slow did not respond within 20 ms')
  })

  it('should not be ready while the server drains', async () => {
    let draining
    const app = serve({
      checks: {
        last: () => { draining ||= close() } // what began during a check counts
      }
    })
    const { server } = await listen(app)
    const close = () => name.startsWith('kone') ? app.close() : server.close()
    assert.equal(await probe(app, 'GET /'), '200 next') // keeps the connection
    assert.equal(await probe(app, 'GET /readyz'), '503 draining')
    await draining
  })
})

describe('health', () => {
  it('should be ready where no server listens', async () => {
    const app = new Kone()
    app.use(health())
    assert.equal((await app.inject('/readyz')).text(), 'ready')
    assert.equal(await (await app.fetch(new Request('http://a/readyz'))).text(), 'ready')
  })

  it('should check its options at registration', () => {
    const refused = [
      [{ live: 'healthz' }, /options\.live must be a path/],
      [{ ready: true }, /options\.ready must be a path/],
      [{ checks: { a: 1 } }, /options\.checks\.a must be a function/],
      [{ timeout: 0 }, /options\.timeout must be/],
      [{ redy: '/' }, /did you mean `ready`/]
    ]
    for (const [options, message] of refused) assert.throws(() => health(options), { name: 'TypeError', message })
  })
})
