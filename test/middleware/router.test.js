'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Router = require('kone/middleware/router')
const frameworks = require('../helpers/frameworks')

frameworks('router', ({ it, Koa, ask, errors }) => {
  /** An app of one router, which `register` gets. */
  const serve = (register, options) => {
    const router = new Router(options)
    register(router)
    return new Koa().use(router.routes())
  }
  const text = async (...args) => (await ask(...args)).text

  it('should respond to OPTIONS, and with 405 and 501, by allowedMethods()', async () => {
    const router = new Router().get('/a', ctx => { ctx.body = 'a' }).post('/a', ctx => { ctx.body = 'b' })
    const app = [router.routes(), router.allowedMethods()]
    for (const [line, status, allow] of [
      ['OPTIONS /a', 200, 'HEAD, GET, POST'], ['PUT /a', 405, 'HEAD, GET, POST'], ['LOCK /a', 501, 'HEAD, GET, POST'],
      ['PUT /b', 404], ['HEAD /a', 200]
    ]) {
      const res = await ask(app, line)
      assert.deepEqual([res.status, res.headers.allow], [status, allow], line)
    }
  })

  it('should match a path as browsers send it, whatever its characters, and as it is', async () => {
    const ascii = Array.from({ length: 0x7f - 0x20 }, (_, i) => String.fromCharCode(0x20 + i)).filter(char => !'/%\\'.includes(char))
    for (const syntax of [6, 8]) {
      const router = new Router({ syntax })
      const rest = syntax === 6 ? '(.*)' : '{/*rest}'
      router.use((ctx, next) => {
        ctx.set('X-Guards', '')
        return next()
      })
      const names = [...ascii, 'é', 'É', '日', '😀', 'é 日^']
      for (const [i, name] of names.entries()) {
        const literal = `/x/a${i}${name.replace(/[:*+?(){}[\]!;"\\]/g, '\\$&')}`
        router.use(literal + rest, (ctx, next) => {
          ctx.set('X-Guards', `${ctx.response.get('X-Guards')} ${i}`)
          return next()
        })
        router.get(`${literal}/:id`, ctx => { ctx.body = `${i} ${ctx.params.id}` })
      }
      const app = [router.routes()]
      for (const [i, name] of names.entries()) {
        const path = `/x/a${i}${name.replace(/[?#]/g, encodeURIComponent)}/1`
        for (const url of new Set([new URL(path, 'http://a').pathname, encodeURI(`/x/a${i}${name}/1`).replace(/[?#]/g, encodeURIComponent)])) {
          const res = await ask(app, `GET ${url}`)
          assert.deepEqual([res.text, res.headers['x-guards'].trim()], [`${i} 1`, String(i)], `${syntax} ${url}`)
        }
        const raw = router.match(`/x/a${i}${name}/1`, 'GET').pathAndMethod
        assert.equal(raw.at(-1)?.path, router.match(new URL(path, 'http://a').pathname, 'GET').pathAndMethod.at(-1).path)
      }
    }
  })

  it('should throw 405 and 501 with the option throw', async () => {
    const router = new Router().get('/a', ctx => { ctx.body = 'a' })
    const notImplemented = () => Object.assign(new Error('odd'), { status: 501, expose: true })
    const app = [router.routes(), router.allowedMethods({ throw: true, notImplemented })]
    const { status, headers } = await ask(app, 'PUT /a')
    assert.deepEqual([status, headers.allow], [405, 'HEAD, GET'])
    assert.equal(await text(app, 'LOCK /a'), 'odd')
  })

  it('should run the guard of a nested router whose prefix has params', async () => {
    // koa-router 14.0.0 skips it
    const inner = new Router({ prefix: '/tenants/:tenant' })
    inner.use((ctx, next) => ctx.get('x-key') === ctx.params.tenant ? next() : ctx.throw(403))
    inner.get('/secret', ctx => { ctx.body = 'secret' })
    const app = serve(outer => outer.use(inner.routes()), { prefix: '/:region' })
    for (const [headers, expected] of [[{}, 403], [{ 'x-key': 'b' }, 403], [{ 'x-key': 'a' }, 200]]) {
      const res = await ask(app, 'GET /eu/tenants/a/secret', { headers })
      assert.deepEqual([res.status, res.text === 'secret'], [expected, expected === 200])
    }
  })

  it('should run a guard on every spelling that reaches the route', async () => {
    const app = serve(router => {
      router.use('/admin', ctx => ctx.throw(401))
      for (const path of ['/admin/users', '/admin/(.*)']) router.get(path, ctx => { ctx.body = 'secret' })
    })
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
    const app = serve(router => router.get('/:__proto__/:constructor', ctx => { ctx.body = ctx.params.constructor }))
    assert.equal(await text(app, 'GET /x/y'), 'y')
    assert.ok(!('x' in {}) && {}.constructor === Object)
  })

  it('should refuse a second next()', async () => {
    const app = serve(router => router.get('/', async (ctx, next) => { await next(); await next() }))
    assert.equal((await ask(app, 'GET /')).status, 500)
    assert.equal(errors.at(-1).message, 'next() called multiple times')
  })

  it('should hand errors on, thrown at once or later', async () => {
    const app = serve(router => {
      router.get('/now', ctx => ctx.throw(418, 'now'))
      router.get('/late', async ctx => { await null; ctx.throw(418, 'late') })
    })
    for (const when of ['now', 'late']) assert.equal(await text(app, `GET /${when}`), when)
  })

  it('should pass the value of a handler through next()', async () => {
    const app = serve(router => {
      router.use(async (ctx, next) => { ctx.body = await next() })
      router.get('/value', () => 'value')
    })
    assert.equal(await text(app, 'GET /value'), 'value')
  })

  it('should match by host, or by one of several', async () => {
    const routes = (host, name) => new Router({ host }).get('/', ctx => { ctx.body = name }).routes()
    const app = [routes('one.example', 'one'), routes(['two.example', /^three\./], 'several'), routes(/\.example$/, 'more')]
    for (const [host, expected] of [
      ['one.example', 'one'], ['two.example', 'several'], ['three.example', 'several'], ['a.example', 'more'],
      ['a.three.example', 'more'], ['one', 'Not Found'], ['other', 'Not Found']
    ]) assert.equal(await text(app, 'GET /', { headers: { host } }), expected, host)
  })

  it('should match what ctx.newRouterPath says', async () => {
    const routes = new Router().get('/real', ctx => { ctx.body = 'real' }).routes()
    assert.equal(await text([(ctx, next) => { ctx.newRouterPath = '/real'; return next() }, routes], 'GET /other'), 'real')
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

  it('should register again what is in a stack, and ignore the names that koa-router ignores', () => {
    const [ours, theirs] = [Router, require('koa-router')].map(Class => {
      const [from, to] = [new Class({ strict: true }), new Class()]
      from.get('one', '/a/:id', () => {}).use('/a', () => {}).use(() => {})
      for (const { path, methods, stack, opts } of from.stack) {
        to.register(path, methods, stack, { path, method: ['get'], host: 'a', trailing: true, ...opts })
      }
      return to.stack.map(({ name, methods, opts, regexp }) => [name, methods, opts.end, opts.strict, String(regexp)])
    })
    assert.deepEqual(ours, theirs)
  })

  it('should check its arguments at registration', () => {
    assert.throws(() => new Router().get(), /provide a path/)
    assert.throws(() => new Router().all([], () => {}), /provide a path/)
    assert.throws(() => new Router().get('/', 'x', 1), /must be a function/)
    assert.throws(() => new Router().redirect('none', '/'), /No route found/)
    for (const prefix of [undefined, null, 1, {}]) {
      assert.throws(() => new Router().prefix(prefix), /^TypeError: router\.prefix\(\): prefix must be a string, not .* \(kone/)
    }
  })

  it('should refuse as a guard whatever is neither a function nor describes the route', () => {
    const nothing = [undefined, null, 1, true, {}, Object.create(null), [], [() => {}], new Date(), new Map()]
    for (const guard of [...nothing, Promise.resolve(() => {})]) {
      for (const Class of [Router, require('koa-router')]) {
        const message = `get \`/a\`: \`middleware\` must be a function, not \`${typeof guard}\``
        assert.throws(() => new Class().get('/a', guard, () => {}), { message })
      }
      if (!Array.isArray(guard)) assert.throws(() => new Router().use(guard), /`middleware` must be a function, not `/)
    }
  })
})
