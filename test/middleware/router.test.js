'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Router = require('kone/middleware/router')
const frameworks = require('../helpers/frameworks')

frameworks('router', ({ it, Koa, ask }) => {
  it('should respond to OPTIONS, and with 405 and 501, by allowedMethods()', async () => {
    const app = new Koa()
    const router = new Router()
    router.get('/a', ctx => { ctx.body = 'a' }).post('/a', ctx => { ctx.body = 'b' })
    app.use(router.routes()).use(router.allowedMethods())
    const options = await ask(app, 'OPTIONS /a')
    assert.deepEqual([options.status, options.headers.allow], [200, 'HEAD, GET, POST'])
    const put = await ask(app, 'PUT /a')
    assert.deepEqual([put.status, put.headers.allow], [405, 'HEAD, GET, POST'])
    assert.equal((await ask(app, 'LOCK /a')).status, 501)
    assert.equal((await ask(app, 'PUT /b')).status, 404)
    assert.equal((await ask(app, 'HEAD /a')).status, 200)
  })

  it('should throw 405 and 501 with the option throw', async () => {
    const app = new Koa()
    const router = new Router()
    router.get('/a', ctx => { ctx.body = 'a' })
    app.use(router.routes()).use(router.allowedMethods({
      throw: true,
      notImplemented: () => Object.assign(new Error('odd'), { status: 501, expose: true })
    }))
    assert.equal((await ask(app, 'PUT /a')).status, 405)
    assert.equal((await ask(app, 'LOCK /a')).text, 'odd')
  })

  it('should run the guard of a nested router whose prefix has params', async () => {
    // koa-router 14.0.0 skips it
    const app = new Koa()
    const inner = new Router({ prefix: '/tenants/:tenant' })
    inner.use((ctx, next) => ctx.get('x-key') === ctx.params.tenant ? next() : ctx.throw(403))
    inner.get('/secret', ctx => { ctx.body = 'secret' })
    const outer = new Router({ prefix: '/:region' })
    outer.use(inner.routes())
    app.use(outer.routes())
    assert.equal((await ask(app, 'GET /eu/tenants/a/secret')).status, 403)
    assert.equal((await ask(app, 'GET /eu/tenants/a/secret', { headers: { 'x-key': 'b' } })).status, 403)
    assert.equal((await ask(app, 'GET /eu/tenants/a/secret', { headers: { 'x-key': 'a' } })).text, 'secret')
  })

  it('should run a guard on every spelling that reaches the route', async () => {
    const app = new Koa()
    const router = new Router()
    router.use('/admin', ctx => ctx.throw(401))
    router.get('/admin/users', ctx => { ctx.body = 'secret' })
    router.get('/admin/(.*)', ctx => { ctx.body = 'secret' })
    app.use(router.routes())
    for (const path of [
      '/admin/users', '/ADMIN/users', '/admin/users/', '/admin/USERS', '/admin//users', '/%61dmin/users',
      '/admin%2Fusers', '/admin/./users', '/./admin/users', '//admin/users', '/admin/%75sers',
      '/admin/..%2fadmin/users', '/admin;x/users'
    ]) {
      const res = await ask(app, `GET ${path}`)
      assert.ok([401, 404].includes(res.status), `${path} answered ${res.status}`)
      assert.ok(!res.text.includes('secret'))
    }
  })

  it('should keep a param named __proto__ out of every prototype', async () => {
    const app = new Koa()
    const router = new Router()
    router.get('/:__proto__/:constructor', ctx => { ctx.body = ctx.params.constructor })
    app.use(router.routes())
    assert.equal((await ask(app, 'GET /x/y')).text, 'y')
    assert.ok(!('x' in {}) && {}.constructor === Object)
  })

  it('should refuse a second next()', async () => {
    const app = new Koa()
    const router = new Router()
    router.get('/', async (ctx, next) => { await next(); await next() })
    let message
    app.use(async (ctx, next) => {
      try { await next() } catch (err) { message = err.message }
    })
    app.use(router.routes())
    await ask(app, 'GET /')
    assert.equal(message, 'next() called multiple times')
  })

  it('should hand errors on, thrown at once or later', async () => {
    const app = new Koa()
    const router = new Router()
    router.get('/now', ctx => ctx.throw(418, 'now'))
    router.get('/late', async ctx => { await null; ctx.throw(418, 'late') })
    app.use(router.routes())
    assert.equal((await ask(app, 'GET /now')).text, 'now')
    assert.equal((await ask(app, 'GET /late')).text, 'late')
  })

  it('should pass the value of a handler through next()', async () => {
    const app = new Koa()
    const router = new Router()
    router.use(async (ctx, next) => { ctx.body = await next() })
    router.get('/value', () => 'value')
    app.use(router.routes())
    assert.equal((await ask(app, 'GET /value')).text, 'value')
  })

  it('should match by host', async () => {
    const app = new Koa()
    const one = new Router({ host: 'one.example' })
    const more = new Router({ host: /\.example$/ })
    one.get('/', ctx => { ctx.body = 'one' })
    more.get('/', ctx => { ctx.body = 'more' })
    app.use(one.routes()).use(more.routes())
    assert.equal((await ask(app, 'GET /', { headers: { host: 'one.example' } })).text, 'one')
    assert.equal((await ask(app, 'GET /', { headers: { host: 'two.example' } })).text, 'more')
    assert.equal((await ask(app, 'GET /', { headers: { host: 'other' } })).status, 404)
  })

  it('should match by one of several hosts', async () => {
    const app = new Koa()
    const router = new Router({ host: ['one.example', /^two\./] })
    router.get('/', ctx => { ctx.body = ctx.host })
    app.use(router.routes())
    for (const [host, status] of [['one.example', 200], ['two.example', 200], ['one', 404], ['a.two.example', 404]]) {
      assert.equal((await ask(app, 'GET /', { headers: { host } })).status, status, host)
    }
  })

  it('should match what ctx.newRouterPath says', async () => {
    const app = new Koa()
    const router = new Router()
    router.get('/real', ctx => { ctx.body = 'real' })
    app.use((ctx, next) => { ctx.newRouterPath = '/real'; return next() })
    app.use(router.routes())
    assert.equal((await ask(app, 'GET /other')).text, 'real')
  })
})

describe('router', () => {
  it('should see routes that are added, replaced and taken out late', () => {
    const router = new Router()
    const paths = path => router.match(path, 'GET').path.map(layer => layer.path)
    router.get('/a', () => {})
    assert.deepEqual(paths('/a'), ['/a'])
    router.get('/b/:id', () => {})
    assert.deepEqual(paths('/b/1'), ['/b/:id'])
    const other = new Router()
    other.get('/c', () => {})
    router.stack[0] = other.stack[0]
    assert.deepEqual([paths('/a'), paths('/c')], [[], ['/c']])
    router.stack.splice(0, 1)
    assert.deepEqual([paths('/c'), paths('/b/1')], [[], ['/b/:id']])
    router.stack = []
    assert.deepEqual(paths('/b/1'), [])
    router.get('/d', () => {}).prefix('/p')
    assert.deepEqual([paths('/d'), paths('/p/d')], [[], ['/p/d']])
  })

  it('should use a middleware that was put into a layer late', async () => {
    const router = new Router()
    const seen = []
    router.get('/', () => { seen.push('old') })
    const routes = router.routes()
    router.stack[0].stack[0] = () => { seen.push('new') }
    await routes({ method: 'GET', path: '/', request: {} }, async () => {})
    assert.deepEqual(seen, ['new'])
  })

  it('should ask only the layers that can match', () => {
    const router = new Router()
    for (let i = 0; i < 500; i++) {
      router.get(`/r${i}`, () => {}).get(`/r${i}/:id`, () => {}).get(`/users/:id/r${i}`, () => {})
    }
    let asked = 0
    for (const layer of router.stack) layer.match = function (path) { asked++; return this.regexp.test(path) }
    const paths = ['/r499', '/r499/1', '/users/1/r499', '/R499/', '/none', '/users/1/none']
    for (const path of paths) router.match(path, 'GET')
    assert.ok(asked <= 6, `${asked} layers were tried`)
  })

  it('should not remember what users send', () => {
    const router = new Router()
    router.get('/:a/:b/c', () => {}).get('/x/:y', () => {})
    const size = state => [...state.next.values()].reduce((sum, next) => sum + (next ? 1 + size(next) : 0), 0)
    router.match('/a/b/c', 'GET')
    for (let i = 0; i < 1000; i++) router.match(`/a${i}/b${i}/c${i}//${i}`, 'GET')
    assert.ok(size(router.trie.root) < 20)
  })

  it('should be made with and without new, and extended', () => {
    class Mine extends Router {}
    assert.ok(Router() instanceof Router)
    assert.ok(new Mine() instanceof Router)
    assert.ok(new Mine() instanceof Mine)
    assert.equal(Router.url('/users/:id', { id: 1 }, { query: { page: 2 } }), '/users/1?page=2')
  })

  it('should name its middleware', () => {
    assert.equal(new Router().routes().name, 'dispatch')
    assert.equal(new Router().allowedMethods().name, 'allowedMethods')
  })

  it('should check its arguments at registration', () => {
    assert.throws(() => new Router().get(), /provide a path/)
    assert.throws(() => new Router().all([], () => {}), /provide a path/)
    assert.throws(() => new Router().get('/', 'x', 1), /must be a function/)
    assert.throws(() => new Router().redirect('none', '/'), /No route found/)
  })
})
