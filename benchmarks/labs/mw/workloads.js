'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')
const { ask } = require('../../lib/run/verify')

/*
 * What the lab measures: for each workload one app for both sides, the request that it gets, and the response that is
 * expected.
 */

const TEXT = 'Text that is worth compressing, as pages and JSON are.\n'.repeat(80)
const ITEMS = ['a', 'b', '<c>']
const CHANGING = path.join(__dirname, 'assets/public/changing.txt')
const SET = ['jsonp', 'logger', 'static', 'bodyParser', 'session', 'i18n', 'cors', 'csrf', 'helmet', 'favicon', 'template']

// The page that a template makes of a greeting, a user and items.
const PAGE = '<h2>Hello, ada</h2>\n<ul>\n  <li>a</li>\n  <li>b</li>\n  <li>&lt;c&gt;</li>\n</ul>\n'

const text = body => ({ status: 200, type: 'text/plain; charset=utf-8', body })
const hello = async ctx => { ctx.body = 'Hello World' }
const values = ctx => ({ greeting: ctx.i18n.__('hello'), user: ctx.session.user, items: ITEMS })
const form = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })
const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain'
const upload = `--limit\r\n${part}\r\n\r\n${'x'.repeat(1000)}\r\n--limit--\r\n` // a form with one file

// The whole set, as the first report measured it.
const wholeSet = (handler, value) => ({
  mount: [...SET, signIn],
  routes: { '/': handler },
  request: signedIn('/?callback=xxx'),
  expected: { status: 200, type: 'text/javascript; charset=utf-8', body: calls(value) }
})

exports.WHOLE = {
  plain: wholeSet(async ctx => { ctx.body = values(ctx) }, { greeting: 'Hello', user: 'ada', items: ITEMS }),
  template: wholeSet(ctx => ctx.render('page', values(ctx)), PAGE)
}

/** A page by the whole set for somebody who has not signed in: what battle measures in a cluster under pm2. */
exports.SIGNED_OUT = {
  mount: SET,
  routes: { '/': ctx => ctx.render('page', { greeting: ctx.i18n.__('hello'), user: 'ada', items: ITEMS }) },
  expected: { status: 200, type: 'text/html; charset=utf-8', body: PAGE }
}

// mount: names of the set and functions, if not the middleware after which the workload is named; handler: if not hello;
// hasTwin: false where Koa's users have no package that is commonly used: those are measured on kone alone
const ALONE = {
  'nothing alone': { mount: [] },
  'jsonp alone': {
    request: { path: '/?callback=xxx' },
    expected: { status: 200, type: 'text/javascript; charset=utf-8', body: calls('Hello World') }
  },
  'router alone': { mount: [], routes: { '/': hello } },
  'router alone, last of 500': {
    mount: [],
    routes: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`/things/of/kind-${i + 1}/:id`, hello])),
    request: { path: '/things/of/kind-500/1' }
  },
  'logger alone': {},
  'static alone': { request: { path: '/hello.txt' }, expected: text(body => body.length === 100) },
  'static alone, changed': { mount: [change, 'staticAtOnce'], request: { path: '/changing.txt' }, expected: text(body => body.length === 100) },
  'bodyParser alone': {
    handler: async ctx => { ctx.body = ctx.request.body.name },
    request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: form },
    expected: text('Ada')
  },
  'session alone': { mount: ['session', signIn], request: signedIn('/') },
  'session alone, 100 KB': {
    mount: ['session', signIn],
    handler (ctx) {
      ctx.session.data ??= 'x'.repeat(100_000)
      ctx.session.count = (ctx.session.count ?? 0) + 1
      ctx.body = String(ctx.session.data.length)
    },
    request: signedIn('/'),
    expected: text('100000')
  },
  'i18n alone': {
    handler: async ctx => { ctx.body = ctx.i18n.__('hello') },
    request: { headers: { 'accept-language': 'en-GB,en;q=0.9' } },
    expected: text('Hello')
  },
  'cors alone': { request: { headers: { origin: 'http://example.com' } } },
  'csrf and session': {
    mount: ['bodyParser', 'session', 'csrf', signIn],
    handler: async ctx => { ctx.body = ctx.state._csrf },
    request: signedIn('/'),
    expected: text(body => body.length > 20)
  },
  'helmet alone': {},
  'favicon alone': {
    request: { path: '/favicon.ico' },
    expected: { status: 200, type: 'image/x-icon', body: body => body.length > 100 }
  },
  'template alone': {
    handler: ctx => ctx.render('page', { greeting: 'Hello', user: 'ada', items: ITEMS }),
    expected: exports.SIGNED_OUT.expected
  },
  'compress alone': {
    handler: ctx => { ctx.body = TEXT },
    request: { headers: { 'accept-encoding': 'gzip' } },
    expected: { ...text(TEXT), headers: { 'content-encoding': 'gzip' } }
  },
  'conditionalGet alone': {
    handler (ctx) {
      ctx.etag = 'current'
      ctx.body = 'Hello World'
    },
    request: { headers: { 'if-none-match': '"earlier"' } }
  },
  'etag alone': { expected: text((body, { etag }) => body === 'Hello World' && etag !== undefined) },
  'rateLimit alone': {},
  'requestId alone': { handler: ctx => { ctx.body = ctx.state.id }, expected: text(body => body.length === 36) },
  'upload alone': {
    handler: ctx => { ctx.body = String(ctx.request.files[0].size) },
    request: { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=limit' }, body: upload },
    expected: text('1000')
  },
  'health alone': { hasTwin: false },
  'isolate alone': { hasTwin: false },
  'metrics alone': { hasTwin: false },
  'overload alone': { hasTwin: false },
  'rpc alone': {
    hasTwin: false,
    request: { method: 'POST', path: '/rpc/add', headers: { 'content-type': 'application/json' }, body: '[1,2]' },
    expected: { status: 200, type: 'application/json', body: '3' }
  },
  'sse alone': {
    hasTwin: false,
    handler (ctx) {
      const stream = ctx.sse()
      stream.send('Hello World')
      stream.end()
    },
    expected: { status: 200, type: 'text/event-stream; charset=utf-8', body: 'data: Hello World\n\n' }
  },
  'timeout alone': { hasTwin: false },
  'validate alone': {
    hasTwin: false,
    handler: ctx => { ctx.body = String(ctx.valid.query.page) },
    request: { path: '/?page=3' },
    expected: text('3')
  }
}

/** Each middleware by itself. */
exports.ALONE = Object.fromEntries(Object.entries(ALONE).map(([workload, how]) =>
  [workload, { mount: [workload.split(' ')[0]], handler: hello, expected: text('Hello World'), hasTwin: true, ...how }]))

/** Mount a workload on an app, with the middleware of its side. */
exports.mount = function (app, set, { mount, handler, routes }) {
  for (const one of mount) typeof one === 'string' ? set[one](app) : app.use(one)
  if (!routes) return app.use(handler)
  const router = new (set.Router())()
  for (const [path, handler] of Object.entries(routes)) router.get(path, handler)
  return app.use(router.routes()).use(router.allowedMethods())
}

// A file that is another one for each request.
function change (ctx, next) {
  fs.utimesSync(CHANGING, new Date(), new Date())
  return next()
}

function signIn (ctx, next) {
  if (ctx.path !== '/login') return next()
  ctx.session.user = 'ada'
  ctx.body = 'signed in'
}

// A request with the cookie of somebody who has signed in.
function signedIn (path) {
  return async server => {
    let cookie = cookieOf(await ask(server.port, { path: '/login' }))
    // once more: a secret for the forms may come into the session with the first page
    cookie = cookieOf(await ask(server.port, { path, headers: { cookie } })) ?? cookie
    return { path, headers: { cookie } }
  }
}

function cookieOf ({ headers }) {
  return headers['set-cookie']?.map(line => line.split(';')[0]).join('; ')
}

// Whether a script calls xxx with this value; koa-jsonp writes `;` before the call, kone a comment.
function calls (value) {
  return function callsWith (body) {
    const argument = /^(?:;|\/\*\*\/)xxx\((.*)\);?$/s.exec(body)?.[1]
    return argument !== undefined && isDeepStrictEqual(JSON.parse(argument), value)
  }
}
