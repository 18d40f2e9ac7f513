'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Oracle = require('@koa/router')
const Koa13 = require('koa-router')
const Kone = require('kone')
const Router = require('kone/middleware/router')
const { random } = require('../helpers/random')

// With `syntax: 8` the routes of @koa/router 15 are the specification: which handlers run, and with
// what params.

const SEGMENTS = ['users', 'Users', 'admin', 'a', 'b', 'x.json', 'caf%C3%A9', 'v1', 'a-b', 'a+b', '~', '\\:id', '\\*', 'K', 'ſ']
const PARTS = [':id', ':name', '*splat', ':id.json', 'x:id', 'x-:id-y', ':from-:to', 'a*splat', ':"odd name"']
const OPTIONAL = ['{/:id}', '{/a}', '{/*splat}', '{/:id{/:name}}', '{.:ext}', '{-x}']
const ASKED = [
  'users', 'USERS', 'admin', 'a', 'b', 'x.json', '12.json', 'x12', 'x-1-y', 'n-m', 'caf%C3%A9', '%', '%2F', 'a%20b', 'a+b', '',
  '~', ':id', '*', 'v1', 'api', 'api', 'K', 'ſ', 'ab', '__proto__', 'a#b', 'a?b', 'a.txt', 'a-x'
]

function makePath (rnd) {
  if (rnd.chance(0.05)) return rnd.pick([/^\/users\/(\d+)$/, /users/i, /^\/(?<kind>a|b)/])
  if (rnd.chance(0.05)) return '/'
  let path = ''
  for (let i = rnd.int(4); i >= 0; i--) path += '/' + (rnd.chance(0.35) ? rnd.pick(PARTS) : rnd.pick(SEGMENTS))
  return path + (rnd.chance(0.25) ? rnd.pick(OPTIONAL) : '') + (rnd.chance(0.1) ? '/' : '')
}

function askedPath (rnd, { prefix = '' }) {
  let path = rnd.chance(0.8) ? prefix.replace(/:\w+/, 'users') : ''
  for (let i = rnd.int(4); i >= 0; i--) path += '/' + rnd.pick(ASKED)
  return rnd.chance(0.15) ? path + '/' : path
}

function makeTable (rnd, level = 0) {
  const options = {}
  if (rnd.chance(0.2)) options.sensitive = true
  if (rnd.chance(0.2)) options.strict = true
  if (rnd.chance(0.1)) options.exclusive = true
  if (rnd.chance(0.3)) options.prefix = rnd.pick(['/api', '/:tenant', '/api/:v'])
  const calls = Array.from({ length: 1 + rnd.int(level ? 4 : 12) }, () => {
    const kind = rnd.int(16)
    if (kind < 11) return ['verb', rnd.pick(['get', 'post', 'put', 'del', 'all']), makePath(rnd)]
    if (kind < 14) return ['use', rnd.chance(0.5) ? null : makePath(rnd)]
    if (kind < 15 || level > 1) return ['param', rnd.pick(['id', 'name', 'splat', 'tenant'])]
    return ['nest', rnd.pick([null, '/users', '/:id', '/a/b']), makeTable(rnd, level + 1)]
  })
  return { options, calls }
}

/** @return {{ router: Object, refused: Number[] }} refused: the calls that threw */
function build (Class, { options, calls }, extra, label = 'r', isBelow = false) {
  const router = new Class({ ...options, ...extra })
  // In @koa/router 15 a use() without a path throws when its router is nested below a prefix with params, or has no params.
  const hasParams = (options.prefix ?? '').includes(':')
  const refused = []
  calls.forEach(([kind, ...args], i) => {
    const handler = (ctx, next) => {
      const { below, ...params } = { ...ctx.params }
      ctx.trace.push([`${label}.${i}`, params, kind === 'verb' && String(ctx._matchedRoute)])
      return next()
    }
    try {
      if (kind === 'verb') router[args[0]](args[1], handler)
      else if (kind === 'use' && args[0] === null && Class === Oracle && isBelow) router.use('{/*below}', handler)
      else if (kind === 'use' && args[0] === null) router.use(handler)
      else if (kind === 'use') router.use(args[0], handler)
      else if (kind === 'param') {
        router.param(args[0], (value, ctx, next) => {
          ctx.trace.push([`${label}.${i}`, value])
          return next()
        })
      } else {
        const nested = build(Class, args[1], extra, `${label}.${i}`, isBelow || hasParams || args[0] === '/:id')
        refused.push(...nested.refused)
        if (args[0] === null) router.use(nested.router.routes())
        else router.use(args[0], nested.router.routes())
      }
    } catch (err) {
      refused.push(`${label}.${i}`)
    }
  })
  return { router, refused }
}

async function trace (router, path, method) {
  // by _matchedParams @koa/router 15 runs a function of param() once per request, though it may be of two params
  const ctx = { path, method, trace: [], request: {}, host: 'a', _matchedParams: { has: () => false, set () {} } }
  await router.routes()(ctx, async () => {})
  return { trace: ctx.trace, route: ctx.routeMatched }
}

describe('router with syntax: 8 beside @koa/router 15', () => {
  it('should run the same handlers with the same params for every table', async () => {
    let reached = 0
    for (let seed = 1; seed <= 400; seed++) {
      const rnd = random(seed)
      const table = makeTable(rnd)
      const theirs = build(Oracle, table)
      const ours = build(Router, table, { syntax: 8 })
      const what = `seed ${seed} ${JSON.stringify(table, (key, value) => value instanceof RegExp ? String(value) : value)}`
      assert.deepEqual(ours.refused, theirs.refused, what)
      for (let i = 0; i < 25; i++) {
        const [path, method] = [askedPath(rnd, table.options), rnd.pick(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])]
        const [one, other] = [await trace(ours.router, path, method), await trace(theirs.router, path, method)]
        assert.deepEqual(one, other, `${method} ${path} ${what}`)
        reached += one.trace.length
      }
    }
    assert.ok(reached > 1000, String(reached))
  })

  it('should make the same URLs', () => {
    for (const [path, ...args] of [
      ['/users/:id', 3], ['/users/:id', '3'], ['/users/:id', { id: 3 }], ['/users/:id', { id: 3 }, { query: { limit: 1 } }],
      ['/users/:id', { id: 3 }, { query: 'limit=1' }], ['/:a/:b', 'x', 'y z'], ['/user{/:id}', {}],
      ['/users/:id', { id: 'a b' }, { encode: false, other: 1 }], ['/users/:id', { id: 3, query: { page: 1 } }],
      ['/users/:id', { id: 3, query: 'page=1' }], ['/x', { query: { a: 1 } }]
    ]) {
      const [theirs, ours] = [new Oracle(), new Router({ syntax: 8 })]
      for (const router of [theirs, ours]) router.get('name', path, () => {})
      assert.equal(ours.url('name', ...args), theirs.url('name', ...args), `${path} ${JSON.stringify(args)}`)
    }
    // @koa/router leaves a param in braces out, and throws for a wildcard
    const router = new Router({ syntax: 8 })
    router.get('user', '/user{/:id}', () => {}).get('files', '/files/*path', () => {})
    assert.equal(router.url('user', { id: 'ü' }), '/user/%C3%BC')
    assert.equal(router.url('files', { path: 'a/b c' }), '/files/a/b%20c')
    assert.equal(router.url('files', { path: ['a', 'b'] }), '/files/a/b')
  })

  it('should make no URL of another host of its params', () => {
    const evil = ['', '/', '\\', '/evil.example', '//evil.example', '\\evil.example', ['', 'evil.example'], 'a', 'a//b',
      '\t/evil.example', '\r\n\\evil.example', ' //evil.example', '\0/\t/evil.example']
    let refused = 0
    for (const [syntax, paths] of [[6, ['/(.*)/:b', '/:a(.*)', '/:a(.*)/:b', '/:a(\\d*)/:b', '/:a*', '/:a?/:b', '/:a([^]*)', ':a([^]*)']],
      [8, ['/*a', '/:a', '/:a/:b', '{/:a}/:b', '/*a/:b', ':a']]]) {
      for (const path of paths) {
        for (const a of evil) {
          for (const encode of [undefined, false, text => text]) {
            const router = new Router({ syntax })
            router.get('name', path, () => {})
            try {
              const url = router.url('name', { a, b: 'evil.example' }, { encode })
              assert.equal(new URL(url, 'http://kone.example').host, 'kone.example', `${path} ${a}`)
            } catch (err) {
              if (err.message.includes('names another host')) refused++
              else assert.equal(err.name, 'TypeError', err) // path-to-regexp's
            }
          }
        }
      }
    }
    assert(refused > 20, refused)
    assert.equal(new Router({ syntax: 8 }).get('cdn', '//cdn.example/:file', () => {}).url('cdn', 'a.js'), '//cdn.example/a.js')
  })

  it('should replace a prefix by the next one', () => {
    for (const router of [new Oracle(), new Router({ syntax: 8 })]) {
      router.get('name', '/x', () => {})
      router.prefix('/a').prefix('/b')
      assert.equal(router.url('name'), '/b/x')
    }
  })
})

describe('router, the option syntax,', () => {
  const answer = async (router, path) => {
    const app = new Kone().use(router.routes())
    const res = await app.inject(path)
    return res.status === 404 ? 404 : res.json()
  }
  const handler = ctx => { ctx.body = { ...ctx.params } }

  it('should leave paths to path-to-regexp 6.3 without it', async () => {
    for (const options of [undefined, {}, { syntax: undefined }, { syntax: 6 }]) {
      const router = new Router(options).get('/users{/:id}', handler).get('/files/:path*', handler)
      assert.equal(await answer(router, '/users'), 404)
      assert.deepEqual(await answer(router, '/users/1'), { id: '1' })
      assert.deepEqual(await answer(router, '/files/a/b'), { path: 'a/b' })
    }
  })

  it('should read `/users{/:id}` as @koa/router 14 does with 8', async () => {
    const router = new Router({ syntax: 8 }).get('/users{/:id}', handler).get('/files/*path', handler)
    assert.deepEqual(await answer(router, '/users'), {})
    assert.deepEqual(await answer(router, '/users/1'), { id: '1' })
    assert.deepEqual(await answer(router, '/files/a/b'), { path: 'a/b' })
  })

  it('should be named by the error for a path of the other syntax', () => {
    const message = path => {
      try {
        new Router(path.options).get(path.path, handler)
      } catch (err) {
        assert.ok(err instanceof TypeError)
        return err.message
      }
    }
    for (const path of ['/*splat', '/files/*path', '/{*splat}']) {
      assert.match(message({ path }), /^router: .+ is not a path of path-to-regexp 6\.3 .*new Router\(\{ syntax: 8 \}\) \(kone\/middleware\/router\/README\.md\)$/, path)
    }
    for (const path of ['/:id?', '/:id(\\d+)', '/(.*)', '/:rest*']) {
      assert.match(message({ path, options: { syntax: 8 } }),
        /^router: .+ is not a path of path-to-regexp 8 .*leave options\.syntax out \(kone\/middleware\/router\/README\.md\)$/, path)
    }
    assert.doesNotMatch(message({ path: '/:(' }), /syntax/)
  })

  it('should be named, and what to write for a star without a name, by the error for a path of no syntax', async () => {
    const ask = async (router, path) => (await new Kone().use(router.routes()).inject(path)).status
    // written → with 6, with 8; and a path that the star is meant for
    for (const [path, six, eight, meant] of [
      ['*', '(.*)', '*splat', '/a/b'], ['/*', '/(.*)', '/*splat', '/a/b'], ['/d/*', '/d/(.*)', '/d/*splat', '/d/a/b'],
      ['/d/*/e', '/d/(.*)/e', '/d/*splat/e', '/d/a/b/e'], ['/d*', '/d(.*)', '/d*splat', '/da/b'],
      ['/*/d/*', '/(.*)/d/(.*)', '/*splat/d/*splat2', '/a/d/b'], ['/:a/\\*/*', '/:a/\\*/(.*)', '/:a/\\*/*splat', '/a/*/b']
    ]) {
      for (const [options, expected, version] of [[{}, six, '6\\.3'], [{ syntax: 8 }, eight, 8]]) {
        for (const register of [router => router.get(path, handler), router => router.use(path, handler)]) {
          assert.throws(() => register(new Router(options)), err => err instanceof TypeError &&
            new RegExp(`^router: '.*' is not a path of path-to-regexp ${version} \\(`).test(err.message) &&
            err.message.includes(`'${path}'`) &&
            err.message.endsWith(`: write '${expected}' (kone/middleware/router/README.md)`), `${path} ${expected}`)
        }
        assert.equal(await ask(new Router(options).get(expected, handler), meant), 200, expected)
      }
    }
    // behind a param or a group it repeats that, and what is broken otherwise has no remedy
    assert.throws(() => new Router().get('/:a*/x/*', handler), /write '\/:a\*\/x\/\(\.\*\)'/)
    for (const options of [{}, { syntax: 8 }]) {
      assert.throws(() => new Router(options).get('/x/:', handler), /^TypeError: router: '\/x\/:' is not a path [^:]+(: [^;]*; visit [^)]*)?\) \(kone/)
    }
  })

  it('should hold for the prefix, and for what is nested', async () => {
    const guarded = []
    const inner = new Router({ syntax: 8 }).use((ctx, next) => {
      guarded.push({ ...ctx.params })
      return next()
    }).get('/{*rest}', handler)
    const router = new Router({ syntax: 8, prefix: '/:tenant' }).use('/posts', inner.routes())
    assert.deepEqual(await answer(router, '/acme/posts/a/b'), { tenant: 'acme', rest: 'a/b' })
    assert.deepEqual(guarded, [{ tenant: 'acme' }])
    assert.throws(() => new Router().use(inner.routes()), /options\.syntax of a nested router/)
    assert.throws(() => new Router({ syntax: 8 }).use('/x', new Router().routes()), /options\.syntax of a nested router/)
  })

  // @koa/router matches such a middleware's prefix by its case, its routes without
  it('should guard every spelling of a prefix that its routes are found by', async () => {
    const router = new Router({ syntax: 8, prefix: '/admin' })
    router.use(ctx => ctx.throw(401)).get('/secret', handler)
    const app = new Kone()
    app.silent = true
    app.use(router.routes())
    for (const path of ['/admin/secret', '/ADMIN/secret', '/Admin/Secret/']) {
      assert.equal((await app.inject(path)).status, 401, path)
    }
  })
})

describe('a param of a path', () => {
  // what koa-router and @koa/router 13 and 14 make of these, where it is something else
  const BLANKS = { '+': ' ', '+49301234': ' 49301234', 'a+b': 'a b', '%2B+': '+ ', 'a+%20%C3%BC': 'a  ü' }
  const TEXTS = [
    ...Object.keys(BLANKS), 'a+%', '+%FF', '%2B', '%2b49', '%20', 'a%20b', '%', '%2', '%zz', 'a%zz%20', '%25', '%252B', '%2520', '%2F', 'a%2Fb',
    '%5C', '%C3%BC', 'ü', '%c3%bc', '%C3', '%FF', '%FF%20', '%ED%A0%80', '%F0%9F%98%80', '%00', '%0D%0A', '%3F', '%23', "!$&'()*,;=:@-._~"
  ]

  it('should be decoded as by @koa/router 15, and as by koa-router 13 but for a plus', async () => {
    const decodedBy = async (router, route, path) => {
      const ctx = { path, method: 'GET', request: {}, host: 'a' }
      await router.get(route, () => {}).routes()(ctx, async () => {})
      return ctx.params
    }
    const routers = [() => new Router(), () => new Router({ syntax: 8 }), () => new Oracle(), () => new Koa13()]
    const rests = ['/f/:id(.*)', '/f/*id', '/f/*id', '/f/:id(.*)']
    for (const text of TEXTS) {
      for (const before of ['', 'x/']) {
        const path = `/${before && 'f/'}${before}${text}`
        const decoded = routers.map((make, i) => decodedBy(make(), before === '' ? '/:id' : rests[i], path))
        const [six, eight, fifteen, thirteen] = await Promise.all(decoded)
        assert.deepEqual({ ...six }, { ...fifteen }, path)
        assert.deepEqual({ ...eight }, { ...fifteen }, path)
        assert.equal(thirteen.id, Object.hasOwn(BLANKS, text) ? `${before}${BLANKS[text]}` : six.id, path)
      }
    }
  })
})
