'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const health = require('kone/middleware/health')
const overload = require('kone/middleware/overload')
const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')
const until = require('../helpers/until')

frameworks('health', ({ it, Koa, ask, listen, errors, name }) => {
  const serve = options => new Koa().use(health(options)).use(ctx => { ctx.body = 'next' })
  const probe = async (app, line) => {
    const res = await ask(app, line)
    return `${res.status} ${res.text}`
  }

  it('should respond on its two paths, uncached, and leave the rest to the next', async () => {
    const others = { live: false, ready: '/up' }
    for (const [line, expected, options] of [
      ['GET /healthz', '200 up'], ['GET /readyz', '200 up'], ['HEAD /readyz', '200 '],
      ['GET /', '200 next'], ['GET /healthz/', '200 next'], ['POST /healthz', '200 next'], ['POST /readyz', '200 next'],
      ['GET /up', '200 up', others], ['GET /healthz', '200 next', others], ['GET /readyz', '200 next', others]
    ]) assert.equal(await probe(serve(options), line), expected, line)
    for (const method of ['GET', 'HEAD']) {
      assert.equal((await ask(serve(), `${method} /readyz`)).headers['cache-control'], 'no-store')
    }
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
    assert.equal(await probe(app, 'GET /readyz'), '200 up')
    fails = ['redis', 'disk', 'queue']
    assert.equal(await probe(app, 'GET /readyz'), '503 down')
    fails = ['redis']
    assert.equal(await probe(app, 'GET /readyz'), '503 down')
    assert.equal(await probe(app, 'GET /healthz'), '200 up')
    assert.deepEqual(errors.map(err => err.message).sort(), ['health: disk is not there', 'health: queue: text', 'secret address'])
    fails = []
    assert.equal(await probe(app, 'GET /readyz'), '200 up')
    fails = ['redis']
    assert.equal(await probe(app, 'GET /readyz'), '503 down')
    assert.equal(errors.length, 4)
  })

  it('should give a check its time and no more, and call it again after its deadline, even if it never ended', async () => {
    errors.length = 0
    let calls = 0
    const app = serve({ timeout: 20, checks: { slow: () => ++calls === 1 ? new Promise(() => {}) : true } })
    assert.equal(await probe(app, 'GET /readyz'), '503 down')
    assert.equal(errors[0].message, 'health: slow did not respond within 20 ms')
    assert.equal(await probe(app, 'GET /readyz'), '200 up')
  })

  it('should share one run of the checks between probes at the same time', async () => {
    let calls = 0
    let arrived = 0
    let release
    const app = new Koa().use((ctx, next) => { arrived++; return next() }).use(health({
      timeout: 20_000,
      checks: {
        db: () => { calls++; return new Promise(resolve => { release = resolve }) }
      }
    }))
    const probes = Array.from({ length: 20 }, () => probe(app, 'GET /readyz'))
    await until(() => arrived === 20)
    release()
    assert.deepEqual(new Set(await Promise.all(probes)), new Set(['200 up']))
    assert.equal(calls, 1)
    const next = probe(app, 'GET /readyz')
    await until(() => calls === 2)
    release()
    assert.equal(await next, '200 up')
  })

  it('should show details to whom the app wants, as JSON, and only on request', async () => {
    const checks = { up: () => 'ok', down: async () => { throw new Error('connect ECONNREFUSED 10.0.0.1') } }
    const json = { accept: 'application/json' }
    const of = async (details, headers) => {
      const { status, text, headers: { vary } } = await ask(serve({ checks, details }), 'GET /readyz', { headers })
      return [status, text, vary]
    }
    for (const headers of [{}, json]) assert.deepEqual(await of(false, headers), [503, 'down', undefined])
    for (const headers of [{}, { accept: '*/*' }, { accept: 'text/html,*/*;q=0.8' }]) {
      assert.deepEqual(await of(true, headers), [503, 'down', 'Accept'])
    }
    const secret = ctx => Promise.resolve(ctx.get('authorization') === 'Bearer secret')
    assert.deepEqual(await of(secret, json), [503, 'down', 'Accept'])
    for (const [details, headers] of [[true, json], [secret, { ...json, authorization: 'Bearer secret' }]]) {
      const [status, text] = await of(details, headers)
      const { checks: { up, down }, ...rest } = JSON.parse(text)
      assert.equal(status, 503)
      assert.deepEqual(rest, { status: 'down', draining: false })
      assert.deepEqual([up.status, up.error, typeof up.ms], ['up', undefined, 'number'])
      assert.deepEqual([down.status, down.error], ['down', 'connect ECONNREFUSED 10.0.0.1'])
    }
  })

  it('should call its hooks around a shutdown, and not be ready from its begin on', async () => {
    const steps = []
    let release
    const probes = health({
      beforeShutdown: () => {
        steps.push('before')
        return new Promise(resolve => { release = resolve })
      },
      afterShutdown: () => { steps.push('after') }
    })
    const app = new Koa().use(probes)
    const { server } = await listen(app)
    assert.equal(await probe(app, 'GET /readyz'), '200 up')
    const close = () => {
      steps.push('close')
      return name.startsWith('kone') ? app.close({ grace: 0 }) : server.close()
    }
    const stopped = probes.shutdown(close)
    assert.equal(probes.shutdown(close), stopped)
    assert.equal(await probe(app, 'GET /readyz'), '503 down') // the server still accepts
    assert.equal(await probe(app, 'GET /healthz'), '200 up')
    assert.deepEqual(steps, ['before'])
    release()
    await stopped
    assert.deepEqual(steps, ['before', 'close', 'after'])
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
    assert.equal(await probe(app, 'GET /readyz'), '503 down')
    await draining
  })
})

describe('health', () => {
  it('should close although a hook fails, and reject with the first failure', async () => {
    const steps = []
    const fails = name => async () => {
      steps.push(name)
      throw new Error(name)
    }
    const probes = health({ beforeShutdown: fails('before'), afterShutdown: fails('after') })
    await assert.rejects(probes.shutdown(fails('close')), { message: 'before' })
    assert.deepEqual(steps, ['before', 'close', 'after'])
    assert.throws(() => health().shutdown(), { name: 'TypeError', message: /^health\.shutdown: close must be a function, not undefined/ })
  })

  it('should show what overload has refused, and depend on it only by a check', async () => {
    const app = new Kone().use(health({ details: true })).use(overload({ maxEventLoopDelay: false, maxRssBytes: 1 }))
    assert.equal((await app.inject('/')).status, 503)
    const { status, overload: shown } = (await app.inject({ url: '/readyz', headers: { accept: 'application/json' } })).json()
    assert.equal(status, 'up')
    assert.deepEqual([shown.isOverloaded, shown.rssBytes > 1, shown.refused.rssBytes > 0], [true, true, true])
    const other = new Kone()
    other.silent = true
    other.use(health({ checks: { load: () => !overload.state().isOverloaded } }))
    assert.equal((await other.inject('/readyz')).status, 503)
  })

  it('should be ready where no server listens', async () => {
    const app = new Kone().use(health())
    assert.equal((await app.inject('/readyz')).text(), 'up')
    assert.equal(await (await app.fetch(new Request('http://a/readyz'))).text(), 'up')
  })
})
