'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const os = require('node:os')
const path = require('node:path')
const { PassThrough } = require('node:stream')
const prom = require('prom-client')
const metrics = require('kone/middleware/metrics')
const overload = require('kone/middleware/overload')
const Router = require('kone/middleware/router')
const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')
const until = require('../helpers/until')

frameworks('metrics', ({ it, Koa, ask, listen }) => {
  const serve = (options, prepare = () => {}) => {
    const register = new prom.Registry()
    const app = new Koa().use(metrics({ register, defaults: false, ...options }))
    prepare(app)
    return { app, register }
  }
  /** The counts of requests by their labels. */
  const counts = text => Object.fromEntries(
    [...text.matchAll(/^http_request_duration_seconds_count\{method="(\S+)",route="(\S+)",status="(\S+)"\} (\d+)$/gm)]
      .map(([, method, route, status, count]) => [`${method} ${route} ${status}`, Number(count)]))

  it('should count by method, route and status', async () => {
    const { app, register } = serve({}, app => {
      const router = new Router()
      router.get('/users/:id', ctx => { ctx.body = ctx.params.id })
      router.post('/users', ctx => { ctx.status = 201 })
      router.get('/broken', () => { throw new Error('broken') })
      app.use(router.routes())
    })
    for (const line of ['GET /users/1', 'GET /users/2', 'POST /users', 'GET /broken', 'GET /a', 'GET /b', 'PROPFIND /c']) {
      await ask(app, line)
    }
    const expected = {
      'GET /users/:id 200': 2, 'POST /users 201': 1, 'GET /broken 500': 1, 'GET none 404': 2, 'other none 404': 1
    }
    await until(async () => Object.keys(counts(await register.metrics())).length === 5)
    const res = await ask(app, 'GET /metrics')
    assert.equal(res.status, 200)
    assert.equal(res.headers['content-type'], register.contentType)
    assert.equal(res.headers['cache-control'], 'no-store')
    assert.deepEqual(counts(res.text), expected)
    // the requests for the metrics are not among them
    assert.deepEqual(counts((await ask(app, 'GET /metrics')).text), expected)
  })

  it('should know what is in flight, clients that left included', async () => {
    let asked
    const arrived = new Promise(resolve => { asked = resolve })
    const { app, register } = serve({}, app => app.use(async ctx => {
      asked()
      await new Promise(resolve => ctx.req.once('close', resolve))
    }))
    const inFlight = async () => /http_requests_in_flight (\d+)/.exec(await register.metrics())[1]
    const { port } = await listen(app)
    const req = http.get({ port, agent: false })
    req.on('error', () => {})
    await arrived
    assert.equal(await inFlight(), '1')
    req.destroy()
    await until(async () => await inFlight() === '0')
    assert.deepEqual(counts(await register.metrics()), { 'GET none lost': 1 })
  })

  // [when the client cancels its stream, what the handler does, the status]
  const pending = new Promise(() => {})
  for (const [event, handle, status] of [
    ['request', () => pending, 'lost'],
    ['response', ctx => { ctx.flushHeaders(); return pending }, 'lost'],
    ['data', ctx => { ctx.body = new PassThrough(); ctx.body.write('a') }, 'lost'],
    ['end', ctx => { ctx.body = 'a' }, '200']
  ]) {
    it(`should count ${status} over HTTP/2 if the client cancels at '${event}'`, async t => {
      const { app, register } = serve({}, app => app.use(handle))
      const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
      t.after(() => { session.destroy(); server.close() })
      const stream = session.request({ ':path': '/' })
      stream.on('data', () => {})
      await once(event === 'request' ? server : stream, event)
      stream.close(http2.constants.NGHTTP2_CANCEL)
      await until(async () => Object.keys(counts(await register.metrics())).length > 0)
      assert.deepEqual(counts(await register.metrics()), { [`GET none ${status}`]: 1 })
    })
  }

  it('should measure seconds until the end of the response', async () => {
    const { app, register } = serve({ buckets: [0.01, 10] }, app => app.use(async ctx => {
      await new Promise(resolve => setTimeout(resolve, 20))
      ctx.body = 'late'
    }))
    await ask(app, 'GET /')
    const text = await until(async () => {
      const text = await register.metrics()
      return text.includes('_count{') && text
    })
    assert.match(text, /_bucket\{le="0\.01",[^}]*\} 0\n/)
    assert.match(text, /_bucket\{le="10",[^}]*\} 1\n/)
  })

  it('should leave out paths', async () => {
    const { app, register } = serve({ exclude: ['/healthz', /^\/assets\//g] })
    for (const path of ['/healthz', '/assets/a.js', '/assets/b.js', '/healthz/x', '/x/assets/']) await ask(app, `GET ${path}`)
    await until(async () => counts(await register.metrics())['GET none 404'] === 2)
    assert.match(await register.metrics(), /http_requests_in_flight 0/)
  })

  it('should let only those read who have the token', async () => {
    const { app } = serve({ token: 'a secret' })
    app.silent = true
    const status = async authorization => {
      const res = await ask(app, 'GET /metrics', { headers: authorization ? { authorization } : {} })
      return [res.status, res.headers['www-authenticate'], res.text.includes('http_requests_in_flight')]
    }
    for (const wrong of ['', 'a secret', 'Bearer', 'Bearer ', 'Bearer a secre', 'Bearer a secretx', 'Basic a secret', 'Bearer x, Bearer a secret']) {
      assert.deepEqual(await status(wrong), [401, 'Bearer', false], wrong)
    }
    assert.deepEqual(await status('Bearer a secret'), [200, undefined, true])
    assert.deepEqual(await status('bearer a secret'), [200, undefined, true])
  })

  it('should add own labels, with a bounded number of values', async () => {
    const failures = []
    const { app, register } = serve({
      labels: { tenant: ctx => ctx.get('x-tenant') || undefined, version: () => { throw new Error('of a label') } }
    }, app => app.on('error', err => failures.push(err.message)))
    await ask(app, 'GET /', { headers: { 'x-tenant': 'a "b"' } })
    await ask(app, 'GET /')
    const text = await until(async () => {
      const text = await register.metrics()
      return text.match(/_count\{/g)?.length === 2 && text
    })
    assert(text.includes('_count{method="GET",route="none",status="404",tenant="a \\"b\\"",version="error"} 1\n'), text)
    assert(text.includes('_count{method="GET",route="none",status="404",tenant="none",version="error"} 1\n'), text)
    assert.deepEqual(failures.filter(message => message !== 'Not Found'), ['of a label', 'of a label'])
    for (let i = 0; i < 120; i++) await ask(app, 'GET /', { headers: { 'x-tenant': `t${i}`.padEnd(5000, 'x') } })
    const values = await until(async () => {
      const found = [...(await register.metrics()).matchAll(/_count\{.*tenant="([^,]*)",.*\} (\d+)/g)]
      return found.reduce((sum, [, , count]) => sum + Number(count), 0) === 122 && found
    })
    assert.equal(values.length, 101) // with `other`
    assert.deepEqual(values.find(([, value]) => value === 'other')[2], '22')
    assert(values.every(([, value]) => value.length <= 100))
  })

  it('should serve them elsewhere, or not at all', async () => {
    const elsewhere = serve({ path: '/m', prefix: 'app_' }).app
    assert.match((await ask(elsewhere, 'GET /m')).text, /app_http_requests_in_flight 0/)
    assert.equal((await ask(elsewhere, 'GET /metrics')).status, 404)
    assert.equal((await ask(serve({ path: false }).app, 'GET /metrics')).status, 404)
  })
})

describe('metrics', () => {
  it('should bound the number of series, and warn once', async t => {
    const warnings = []
    t.mock.method(process, 'emitWarning', (text, { code }) => warnings.push(code))
    const register = new prom.Registry()
    const labels = { a: ctx => ctx.a, b: ctx => ctx.b }
    const count = metrics({ register, defaults: false, labels })
    const requests = 6000
    for (let i = 0; i < requests; i++) {
      const ctx = { path: '/', method: i % 2 ? 'GET' : 'POST', status: 200, _matchedRoute: `/${i % 7}`, a: i % 100, b: Math.floor(i / 100) }
      count({ ...ctx, onFinished: fn => fn(null) }, () => {})
    }
    const text = await register.metrics()
    const series = text.match(/^http_request_duration_seconds_count.*$/gm)
    assert.equal(series.length, 2002)
    const others = series.filter(line => line.includes('route="other"')).map(line => line.replace(/ \d+$/, ''))
    assert.deepEqual(others.sort(), ['GET', 'POST'].map(method =>
      `http_request_duration_seconds_count{method="${method}",route="other",status="200",a="other",b="other"}`))
    assert.equal(series.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0), requests)
    assert(text.length < 4e6, `${text.length} bytes`)
    assert.deepEqual(warnings, ['KONE_METRICS_SERIES'])
  })

  it('should count what overload refuses', async () => {
    const app = new Kone()
    app.use(metrics({ register: new prom.Registry(), defaults: false }))
    app.use(overload({ maxEventLoopDelay: false, maxRssBytes: 1 }))
    const before = overload.state().refused.rssBytes ?? 0
    for (let i = 0; i < 3; i++) assert.equal((await app.inject('/')).status, 503)
    for (let i = 0; i < 2; i++) {
      const text = (await app.inject('/metrics')).text()
      assert.match(text, new RegExp(`^http_requests_refused_total\\{reason="rssBytes"\\} ${before + 3}$`, 'm'))
      assert.match(text, /^http_overloaded 1$/m)
    }
  })

  it('should refuse a registry that has its metrics with other labels', () => {
    const register = new prom.Registry()
    metrics({ register, labels: { tenant: () => 'a' } })
    metrics({ register, labels: { tenant: () => 'b' } })
    assert.throws(() => metrics({ register }), {
      name: 'TypeError',
      message: /^metrics: the registry has http_request_duration_seconds with other labels, method, route, status, tenant: give each app/
    })
  })

  it('should include event-loop lag, once for several apps', async () => {
    const register = new prom.Registry()
    const apps = [1, 2].map(() => new Kone().use(metrics({ register })).use(ctx => { ctx.body = 'a' }))
    for (const app of apps) await app.inject('/')
    const text = (await apps[0].inject('/metrics')).text()
    assert.match(text, /^nodejs_eventloop_lag_seconds /m)
    assert.match(text, /_count\{[^}]*\} 2\n/)
  })

  it('should leave no handle open', () => {
    execFileSync(process.execPath, ['-e', "require('kone/middleware/metrics')()"], { cwd: __dirname, timeout: 120000 })
  })

  it('should say that prom-client is missing', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-metrics-'))
    try {
      const root = path.join(__dirname, '../..')
      for (const part of ['lib', 'middleware']) fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
      fs.mkdirSync(path.join(folder, 'node_modules'))
      for (const name of ['bytes', 'ee-first', 'on-finished']) {
        fs.symlinkSync(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name), 'junction')
      }
      const without = require(path.join(folder, 'middleware/metrics'))
      assert.throws(() => without(), { message: /^metrics: the package prom-client is missing: npm install prom-client \(/ })
      assert.equal(without({ client: prom, register: new prom.Registry() }).name, 'metrics')
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })
})
