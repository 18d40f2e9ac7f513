'use strict'

const besideKoa = require('../helpers/beside-koa')

process.env.KONE_AS_KOA = 'quiet'
require('kone/as-koa')

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { Readable } = require('node:stream')
const zlib = require('node:zlib')

const fixtures = path.join(__dirname, 'fixtures')
const gzip = { headers: { 'accept-encoding': 'gzip' } }
const json = body => ({ headers: { 'content-type': 'application/json' }, body })
const form = body => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body })

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
  const set = app => {
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

  besideKoa(name, [
    {
      title: 'should route, with parameters, names and nesting',
      set,
      requests: [['GET /'], ['GET /users/42?q=x'], ['GET /nowhere'], ['POST /users'], ['GET /old'], ['PUT /fail']],
      statuses: [200, 200, 404, 302, 301, 409]
    },
    {
      title: 'should respond with 405, 501 and OPTIONS',
      set,
      requests: [['DELETE /users/1'], ['OPTIONS /users/1'], ['SEARCH /users/1']],
      statuses: [405, 200, 501]
    },
    { title: 'should know HEAD', set, requests: [['HEAD /']], statuses: [200] }
  ])
}

const parsed = ctx => { ctx.body = { body: ctx.request.body, raw: ctx.request.rawBody } }

besideKoa('koa-bodyparser', [
  {
    title: 'should parse json, forms and text, and refuse what is broken or too large',
    set: app => app.use(require('koa-bodyparser')({ enableTypes: ['json', 'form', 'text'], jsonLimit: '1kb' })).use(parsed),
    requests: [
      ['POST /', json('{"a":[1]}')], ['POST /', form('a=b&c[d]=e')],
      ['POST /', { headers: { 'content-type': 'text/plain' }, body: 'text' }],
      ['POST /', json('{"a"')], ['POST /', json(JSON.stringify('x'.repeat(2000)))], ['GET /']
    ],
    statuses: [200, 200, 200, 400, 413, 200]
  },
  {
    title: 'should inflate',
    set: app => app.use(require('koa-bodyparser')()).use(parsed),
    requests: [['POST /', { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: zlib.gzipSync('{"a":1}') }]],
    statuses: [200]
  }
])

besideKoa('@koa/bodyparser', [{
  title: 'should parse json and forms, and refuse what is broken',
  async set (app) {
    const { bodyParser } = await import('@koa/bodyparser')
    app.use(bodyParser()).use(parsed)
  },
  requests: [['POST /', json('{"a":1}')], ['POST /', form('a=b')], ['POST /', json('{')]],
  statuses: [200, 200, 400]
}])

const counted = ctx => {
  ctx.session.views = (ctx.session.views || 0) + 1
  ctx.body = String(ctx.session.views)
}

/** What koa-session and koa-session-minimal store sessions in. */
function store () {
  const sessions = new Map()
  return {
    get: async id => sessions.get(id),
    set: async (id, session) => { sessions.set(id, session) },
    destroy: async id => { sessions.delete(id) }
  }
}

/** Ids, times and signatures. */
const maskCookies = text => text.replace(/(koa[.:]sess(?:\.sig)?)=[^;]+/g, '$1=…').replace(/expires=[^;]+/g, 'expires=…')

const { createSession: session } = require('koa-session')

besideKoa('koa-session', [
  {
    title: 'should keep a session in a signed cookie',
    options: { keys: ['secret'] },
    set: app => app.use(session(app)).use(counted),
    requests: [['GET /'], ['GET /'], ['GET /', { headers: { cookie: 'koa.sess=eyJ2aWV3cyI6OX0=; koa.sess.sig=forged' } }]],
    mask: maskCookies
  },
  {
    title: 'should keep a session in a store',
    set: app => app.use(session({ store: store(), signed: false }, app)).use(counted),
    requests: [['GET /'], ['GET /']],
    mask: maskCookies
  }
])

besideKoa('koa-session-minimal', [{
  title: 'should keep a session in a store', // its own in memory would keep the process alive for a day
  set: app => app.use(require('koa-session-minimal')({ store: store() })).use(counted),
  requests: [['GET /'], ['GET /']],
  mask: maskCookies
}])

besideKoa('koa-views', [{
  title: 'should render nunjucks with ctx.state',
  set (app) {
    const views = path.join(fixtures, 'views')
    app.use(require('koa-views')(views, { extension: 'html', map: { html: 'nunjucks' }, options: { settings: { views } } }))
    app.use(async ctx => {
      ctx.state.greeting = 'welcome'
      await ctx.render('hello', { name: '<kone>' })
    })
  },
  requests: [['GET /']]
}])

const files = app => app.use(require('koa-static')(path.join(fixtures, 'public'))).use(ctx => { ctx.body = 'next' })

besideKoa('koa-static', [
  {
    title: 'should serve files, their index, and leave the rest to the next',
    set: files,
    requests: [['GET /hello.txt'], ['GET /'], ['GET /nope']],
    statuses: [200, 200, 200]
  },
  { title: 'should know HEAD', set: files, requests: [['HEAD /hello.txt']], statuses: [200] },
  {
    title: 'should stay in its folder',
    skip: { fetch: 'the URL of a Request is normalised' },
    set: files,
    requests: [['GET /%2e%2e/%2e%2e/packages.test.js']],
    statuses: [403]
  }
])

besideKoa('koa-compress', [{
  title: 'should compress text and streams, and nothing small',
  set: app => app.use(require('koa-compress')({ br: false })).use(ctx => {
    const text = 'kone '.repeat(1000)
    ctx.type = 'text'
    ctx.body = { '/stream': () => Readable.from([text]), '/small': () => 'x' }[ctx.path]?.() ?? text
  }),
  requests: [['GET /', gzip], ['GET /stream', gzip], ['GET /small', gzip], ['GET /']]
}])

besideKoa('koa-mount', [{
  title: 'should mount apps and middleware on a path',
  set (app) {
    const mount = require('koa-mount')
    const inner = new app.constructor().use(async (ctx, next) => {
      await next()
      ctx.body = `${ctx.body} at ${ctx.path} of ${ctx.mountPath}`
    }).use(ctx => { ctx.body = 'inner' })
    app.use(mount('/inner', inner))
    app.use(mount('/fn', ctx => { ctx.body = ctx.path }))
    app.use(ctx => { ctx.body = `outer at ${ctx.path}` })
  },
  requests: [['GET /inner/a?b'], ['GET /fn'], ['GET /innermost']]
}])

const origin = 'https://a.example'

besideKoa('@koa/cors', [{
  title: 'should respond with origins and preflights, errors too',
  set (app) {
    app.use(require('@koa/cors')({ origin, credentials: true, maxAge: 60 }))
    app.use(ctx => {
      if (ctx.path === '/fail') ctx.throw(400, 'no', { headers: { 'X-Own': '1' } })
      ctx.body = 'x'
    })
  },
  requests: [
    ['GET /', { headers: { origin } }], ['OPTIONS /', { headers: { origin, 'access-control-request-method': 'PUT' } }],
    ['GET /fail', { headers: { origin } }]
  ],
  statuses: [200, 204, 400]
}])

besideKoa('koa-helmet', [{
  title: 'should set its headers',
  async set (app) {
    const { default: helmet } = await import('koa-helmet')
    app.use(helmet()).use(ctx => { ctx.body = 'x' })
  },
  requests: [['GET /']]
}])

const etag = '"7-n4nHQM60bXQYySSnisV5QdXpZSA"'

besideKoa('koa-etag with koa-conditional-get', [{
  title: 'should respond with 304 to what the client has',
  set: app => app.use(require('koa-conditional-get')()).use(require('koa-etag').default()).use(ctx => { ctx.body = { a: 1 } }),
  requests: [['GET /'], ['GET /', { headers: { 'if-none-match': etag } }], ['GET /', { headers: { 'if-none-match': '"other"' } }]],
  statuses: [200, 304, 200]
}])
