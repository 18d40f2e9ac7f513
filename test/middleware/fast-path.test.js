'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const set = require('kone/middleware')
const folder = require('../helpers/folder')
const Kone = require('../helpers/kone')
const materialised = require('../helpers/materialised')
const storeOf = require('../helpers/sessions')

const { compress, csrf, i18n, logger, session, static: serve, template } = set
const root = folder({ 'page.html': '<p>{{ __("Hello") }}', 'icon.ico': 'icon' })
const hi = ctx => { ctx.body = 'hi' }
const count = ctx => { ctx.body = String(ctx.path === '/add' ? ctx.session.count = (ctx.session.count || 0) + 1 : 0) }
const cookieOf = ({ headers }) => headers['set-cookie'][0].split(';')[0]

const token = {
  use: () => [session(), csrf(), ctx => { ctx.body = ctx.method === 'GET' ? ctx.state._csrf : 'OK' }],
  async visit (ask) {
    const res = await ask('GET /')
    return [
      ['POST /', { cookie: cookieOf(res), 'csrf-token': res.text }, 'OK'],
      ['POST /', { 'Sec-Fetch-Site': 'same-origin' }, 'OK'], ['POST /', { 'Sec-Fetch-Site': 'cross-site' }, 403]
    ]
  }
}
const counted = store => ({
  use: () => [session({ store }), count],
  visit: async ask => [['GET /', {}, '0'], ['GET /add', { cookie: cookieOf(await ask('GET /add')) }, '2'], ['GET /', {}, '0']]
})
const Origin = 'http://a.com'
const json = { 'content-type': 'application/json' }

/** The middleware of an app and requests, each [line, headers, status or text, body]. */
const CASES = {
  cors: {
    use: () => [set.cors({ origin: ctx => ctx.get('Origin'), credentials: true }), hi],
    visit: () => [['GET /', { Origin }, 'hi'], ['GET /', {}, 'hi'], ['OPTIONS /', { Origin, 'Access-Control-Request-Method': 'PUT' }, 204]]
  },
  csrf: token,
  'etag and conditionalGet': {
    use: () => [set.conditionalGet(), set.etag(), hi],
    visit: async ask => [['GET /', { 'If-None-Match': (await ask('GET /')).headers.etag }, 304]]
  },
  favicon: {
    use: () => [set.favicon(`${root}/icon.ico`), hi],
    visit: async ask => [['GET /favicon.ico', { 'If-None-Match': (await ask('GET /favicon.ico')).headers.etag }, 304], ['GET /', {}, 'hi']]
  },
  helmet: { use: () => [set.helmet(), hi], visit: () => [['GET /', {}, 'hi']] },
  rateLimit: { use: () => [set.rateLimit({ max: 2 }), hi], visit: () => [200, 200, 429].map(status => ['GET /', {}, status]) },
  'session in memory': counted(session.memory()),
  'session in a cookie': counted(session.sealedCookie({ keys: ['k'.repeat(32)] })),
  'session in a store of promises': counted(storeOf()),
  'responses from memory': {
    use: app => [
      logger(() => {}, ':remote-addr :method :url :http-version :status :req[host]'), compress({ threshold: 1 }), set.jsonp(), set.sse(),
      i18n(app, { locales: { en: { Hello: 'Hello' } }, modes: ['query', 'cookie', 'header', 'subdomain'] }), serve(root), template(root),
      ctx => {
        if (ctx.path === '/page') return ctx.render('page')
        if (ctx.path === '/json') ctx.body = { a: 1 }
      }
    ],
    visit: () => [
      ['GET /page', {}, '<p>Hello'], ['GET /json?callback=cb', {}, '/**/cb({"a":1});'], ['GET /page.html', {}, '<p>{{ __("Hello") }}'],
      ['GET /page.html', {}, '<p>{{ __("Hello") }}'], ['GET /page.html', { Range: 'bytes=0-2' }, '<p>'],
      ['GET /page.html', { 'If-Modified-Since': new Date(Date.now() + 1e6).toUTCString() }, 304], ['GET /none', {}, 404]
    ]
  },
  'router, bodyParser, rpc, isolate, timeout and requestId': {
    use () {
      const router = set.router().get('/users/:id', ctx => { ctx.body = ctx.params.id })
      router.post('/users', ctx => { ctx.body = ctx.request.body })
      return [
        set.isolate(), set.timeout(5000), set.requestId(), set.bodyParser({ enableTypes: ['json', 'form', 'text'] }),
        set.rpc({ add: (a, b) => a + b }), router.routes(), router.allowedMethods()
      ]
    },
    visit: () => [
      ['GET /users/7', {}, '7'], ['POST /users', json, '{"a":1}', '{"a":1}'], ['GET /none', {}, 404], ['GET /users', {}, 405],
      ['POST /users', { 'content-type': 'application/x-www-form-urlencoded' }, '{"a":"1"}', 'a=1'],
      ['POST /users', { 'content-type': 'text/plain' }, 'hi', 'hi'], ['POST /rpc/add', json, '3', '[1,2]']
    ]
  }
}

describe("kone's front", () => {
  for (const [what, { use, visit }] of Object.entries(CASES)) {
    it(`should never make node's request and response for ${what}`, async () => {
      const app = new Kone()
      for (const fn of use(app)) app.use(fn)
      let asked = 0
      const count = await materialised(app, async ask => {
        const counting = (...args) => { asked++; return ask(...args) }
        for (const [line, headers, expected, body] of await visit(counting)) {
          const { status, text } = await counting(line, headers, body)
          assert.equal(typeof expected === 'number' ? status : text, expected, line)
        }
      })
      assert.deepEqual(count, { requests: asked, materialised: 0 })
    })
  }
})
