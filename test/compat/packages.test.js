'use strict'

require('./koa-is-kone')

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { Readable } = require('node:stream')
const zlib = require('node:zlib')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

const fixtures = path.join(__dirname, 'fixtures')
const cookieOf = res => res.headers['set-cookie'].map(cookie => cookie.split(';')[0]).join('; ')
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const json = { 'content-type': 'application/json' }

describe("require('koa')", () => {
  test('should be kone here, in every form that packages use', () => {
    assert.equal(require('koa'), require('kone'))
    for (const name of ['application', 'context', 'request', 'response']) {
      assert.equal(require(`koa/lib/${name}`), require(`kone/lib/${name}`))
      assert.equal(require(`koa/lib/${name}.js`), require(`kone/lib/${name}`))
    }
    assert.equal(require('koa/package.json').name, 'kone')
  })
})

for (const [name, Router] of [['koa-router', require('koa-router')], ['@koa/router', require('@koa/router')]]) {
  engines(name, ({ it, serve, ask }) => {
    const setup = app => {
      const users = new Router({ prefix: '/users' })
      users.use(async (ctx, next) => {
        ctx.set('X-Users', 'yes')
        await next()
      })
      users.param('id', (id, ctx, next) => { ctx.state.id = id; return next() })
      users.get('user', '/:id', ctx => {
        ctx.body = { id: ctx.params.id, state: ctx.state.id, matched: ctx._matchedRoute, query: ctx.query.q }
      })
      users.post('/', ctx => { ctx.status = 201; ctx.redirect(users.url('user', 7)) })

      const router = new Router()
      router.get('/', ctx => { ctx.body = 'home' })
      router.redirect('/old', '/users/1')
      router.all('/fail', ctx => ctx.throw(409, 'conflict'))
      router.use(users.routes())

      app.use(router.routes()).use(router.allowedMethods())
    }

    it('should route, with parameters, names and nesting', async () => {
      const { ask } = await serve(setup)
      assert.equal((await ask('GET /')).text, 'home')
      const res = await ask('GET /users/42?q=x')
      assert.deepEqual(res.json(), { id: '42', state: '42', matched: '/users/:id', query: 'x' })
      assert.equal(res.headers['x-users'], 'yes')
      assert.equal((await ask('GET /nowhere')).status, 404)
      assert.equal((await ask('POST /users')).headers.location, '/users/7')
      assert.equal((await ask('GET /old')).headers.location, '/users/1')
      assert.equal((await ask('PUT /fail')).status, 409)
    })

    it('should respond with 405, 501 and OPTIONS', async () => {
      const { ask } = await serve(setup)
      const wrong = await ask('DELETE /users/1')
      assert.equal(wrong.status, 405)
      assert.match(wrong.headers.allow, /GET/)
      const options = await ask('OPTIONS /users/1')
      assert.equal(options.status, 200)
      assert.match(options.headers.allow, /HEAD, GET|GET, HEAD/)
      assert.equal((await ask('SEARCH /users/1')).status, 501)
    })

    it('should know HEAD', async () => {
      const res = await ask(setup, 'HEAD /')
      assert.deepEqual([res.status, res.headers['content-length']], [200, '4'])
    })
  })
}

engines('koa-bodyparser', ({ it, serve }) => {
  it('should parse json, forms and text, and refuse what is broken or too large', async () => {
    const { ask } = await serve(app => {
      app.use(require('koa-bodyparser')({ enableTypes: ['json', 'form', 'text'], jsonLimit: '1kb' }))
      app.use(ctx => { ctx.body = { body: ctx.request.body, raw: ctx.request.rawBody } })
    })
    assert.deepEqual((await ask('POST /', { headers: json, body: '{"a":[1]}' })).json(),
      { body: { a: [1] }, raw: '{"a":[1]}' })
    assert.deepEqual((await ask('POST /', { headers: form, body: 'a=b&c[d]=e' })).json().body,
      { a: 'b', c: { d: 'e' } })
    assert.equal((await ask('POST /', { headers: { 'content-type': 'text/plain' }, body: 'text' })).json().body, 'text')
    assert.equal((await ask('POST /', { headers: json, body: '{"a"' })).status, 400)
    assert.equal((await ask('POST /', { headers: json, body: JSON.stringify('x'.repeat(2000)) })).status, 413)
    assert.deepEqual((await ask('GET /')).json().body, {})
  })

  it('should inflate', async () => {
    const { ask } = await serve(app => app.use(require('koa-bodyparser')()).use(ctx => { ctx.body = ctx.request.body }))
    const headers = { ...json, 'content-encoding': 'gzip' }
    assert.deepEqual((await ask('POST /', { headers, body: zlib.gzipSync('{"a":1}') })).json(), { a: 1 })
  })
})

engines('@koa/bodyparser', ({ it, serve }) => {
  it('should parse json and forms, and refuse what is broken', async () => {
    const { bodyParser } = await import('@koa/bodyparser')
    const { ask } = await serve(app => {
      app.use(bodyParser())
      app.use(ctx => { ctx.body = { body: ctx.request.body, raw: ctx.request.rawBody } })
    })
    assert.deepEqual((await ask('POST /', { headers: json, body: '{"a":1}' })).json(),
      { body: { a: 1 }, raw: '{"a":1}' })
    assert.deepEqual((await ask('POST /', { headers: form, body: 'a=b' })).json().body, { a: 'b' })
    assert.equal((await ask('POST /', { headers: json, body: '{' })).status, 400)
  })
})

engines('koa-session', ({ it, serve }) => {
  const { createSession: session } = require('koa-session')

  const counter = ctx => {
    ctx.session.views = (ctx.session.views || 0) + 1
    ctx.body = String(ctx.session.views)
  }

  it('should keep a session in a signed cookie', async () => {
    const { ask } = await serve(app => app.use(session(app)).use(counter), { keys: ['secret'] })
    const first = await ask('GET /')
    assert.equal(first.text, '1')
    const cookie = cookieOf(first)
    assert.equal((await ask('GET /', { headers: { cookie } })).text, '2')
    const forged = cookie.replace(/sig=(.)/, (sig, first) => `sig=${first === 'A' ? 'B' : 'A'}`)
    assert.equal((await ask('GET /', { headers: { cookie: forged } })).text, '1')
  })

  it('should keep a session in a store', async () => {
    const sessions = new Map()
    const store = {
      get: key => sessions.get(key),
      set: (key, session) => { sessions.set(key, session) },
      destroy: key => { sessions.delete(key) }
    }
    const { ask } = await serve(app => app.use(session({ store, signed: false }, app)).use(counter))
    const cookie = cookieOf(await ask('GET /'))
    assert.equal((await ask('GET /', { headers: { cookie } })).text, '2')
    assert.equal(sessions.size, 1)
  })
})

engines('koa-session-minimal', ({ it, serve }) => {
  it('should keep a session in a store', async () => {
    const sessions = new Map()
    const store = {
      get: async sid => sessions.get(sid),
      set: async (sid, session) => { sessions.set(sid, session) },
      destroy: async sid => { sessions.delete(sid) }
    }
    const { ask } = await serve(app => {
      // Its own store in memory would keep the process alive for a day.
      app.use(require('koa-session-minimal')({ store }))
      app.use(ctx => {
        ctx.session.views = (ctx.session.views || 0) + 1
        ctx.body = String(ctx.session.views)
      })
    })
    const first = await ask('GET /')
    assert.equal(first.text, '1')
    assert.equal((await ask('GET /', { headers: { cookie: cookieOf(first) } })).text, '2')
  })
})

engines('koa-views', ({ it, serve }) => {
  it('should render nunjucks with ctx.state', async () => {
    const views = path.join(fixtures, 'views')
    const { ask } = await serve(app => app.use(require('koa-views')(views, {
      extension: 'html',
      map: { html: 'nunjucks' },
      options: { settings: { views } }
    })).use(async ctx => {
      ctx.state.greeting = 'welcome'
      await ctx.render('hello', { name: '<kone>' })
    }))
    const res = await ask('GET /')
    assert.deepEqual([res.status, res.headers['content-type']], [200, 'text/html; charset=utf-8'])
    assert.equal(res.text.trim(), '<p>Hello &lt;kone&gt;, welcome.</p>')
  })
})

engines('koa-static', ({ it, serve }) => {
  it('should serve files, their index, and leave the rest to the next', async () => {
    const { ask } = await serve(app => {
      app.use(require('koa-static')(path.join(fixtures, 'public')))
      app.use(ctx => { ctx.body = 'next' })
    })
    const res = await ask('GET /hello.txt')
    assert.deepEqual([res.text, res.headers['content-type']], ['hello from a file\n', 'text/plain; charset=utf-8'])
    assert.equal(res.headers['content-length'], '18')
    assert(res.headers['last-modified'])
    assert.equal((await ask('GET /')).text, '<p>index\n')
    assert.equal((await ask('GET /nope')).text, 'next')
    const head = await ask('HEAD /hello.txt')
    assert.deepEqual([head.headers['content-length'], head.text], ['18', ''])
  })

  it('should stay in its folder', { skip: { fetch: 'the URL of a Request is normalised' } }, async () => {
    const { ask } = await serve(app => app.use(require('koa-static')(path.join(fixtures, 'public'))))
    assert.equal((await ask('GET /%2e%2e/%2e%2e/packages.test.js')).status, 403)
  })
})

engines('koa-compress', ({ it, serve }) => {
  it('should compress text and streams, and nothing small', async () => {
    const text = 'kone '.repeat(1000)
    const { ask } = await serve(app => app.use(require('koa-compress')({ br: false })).use(ctx => {
      ctx.type = 'text'
      ctx.body = { '/stream': () => Readable.from([text]), '/small': () => 'x' }[ctx.path]?.() ?? text
    }))
    const headers = { 'accept-encoding': 'gzip' }
    for (const target of ['/', '/stream']) {
      const res = await ask(`GET ${target}`, { headers })
      assert.equal(res.headers['content-encoding'], 'gzip')
      assert.match(res.headers.vary, /Accept-Encoding/)
      assert.equal(zlib.gunzipSync(res.body).toString(), text)
    }
    assert.equal((await ask('GET /small', { headers })).headers['content-encoding'], undefined)
    assert.equal((await ask('GET /')).text, text)
  })
})

engines('koa-mount', ({ it, serve }) => {
  it('should mount apps and middleware on a path', async () => {
    const mount = require('koa-mount')
    const inner = new Kone().use(async (ctx, next) => {
      await next()
      ctx.body = `${ctx.body} at ${ctx.path} of ${ctx.mountPath}`
    }).use(ctx => { ctx.body = 'inner' })
    const { ask } = await serve(app => {
      app.use(mount('/inner', inner))
      app.use(mount('/fn', ctx => { ctx.body = ctx.path }))
      app.use(ctx => { ctx.body = `outer at ${ctx.path}` })
    })
    assert.equal((await ask('GET /inner/a?b')).text, 'inner at /a of /inner')
    assert.equal((await ask('GET /fn')).text, '/')
    assert.equal((await ask('GET /innermost')).text, 'outer at /innermost')
  })
})

engines('@koa/cors', ({ it, serve }) => {
  it('should respond with origins and preflights, errors too', async () => {
    const { ask } = await serve(app => {
      app.use(require('@koa/cors')({ origin: 'https://a.example', credentials: true, maxAge: 60 }))
      app.use(ctx => {
        if (ctx.path === '/fail') ctx.throw(400, 'no', { headers: { 'X-Own': '1' } })
        ctx.body = 'x'
      })
    })
    const origin = 'https://a.example'
    const res = await ask('GET /', { headers: { origin } })
    assert.equal(res.headers['access-control-allow-origin'], origin)
    assert.equal(res.headers['access-control-allow-credentials'], 'true')
    assert.match(res.headers.vary, /Origin/)
    const preflight = await ask('OPTIONS /', { headers: { origin, 'access-control-request-method': 'PUT' } })
    assert.equal(preflight.status, 204)
    assert.match(preflight.headers['access-control-allow-methods'], /PUT/)
    assert.equal(preflight.headers['access-control-max-age'], '60')
    const failed = await ask('GET /fail', { headers: { origin } })
    assert.equal(failed.status, 400)
    assert.equal(failed.headers['access-control-allow-origin'], origin)
    assert.equal(failed.headers['x-own'], '1')
  })
})

engines('koa-helmet', ({ it, ask }) => {
  it('should set its headers', async () => {
    const { default: helmet } = await import('koa-helmet')
    const res = await ask(app => app.use(helmet()).use(ctx => { ctx.body = 'x' }), 'GET /')
    assert.deepEqual([res.status, res.headers['x-content-type-options']], [200, 'nosniff'])
    assert.equal(res.headers['x-frame-options'], 'SAMEORIGIN')
    assert.match(res.headers['content-security-policy'], /default-src 'self'/)
    assert.match(res.headers['strict-transport-security'], /max-age=/)
    assert.equal(res.text, 'x')
  })
})

engines('koa-etag with koa-conditional-get', ({ it, serve }) => {
  it('should respond with 304 to what the client has', async () => {
    const { ask } = await serve(app => app.use(require('koa-conditional-get')()).use(require('koa-etag').default())
      .use(ctx => { ctx.body = { a: 1 } }))
    const first = await ask('GET /')
    assert(first.headers.etag)
    const second = await ask('GET /', { headers: { 'if-none-match': first.headers.etag } })
    assert.deepEqual([second.status, second.text], [304, ''])
  })
})
