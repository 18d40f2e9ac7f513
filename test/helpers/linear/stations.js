'use strict'

const { randomBytes } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { gzipSync } = require('node:zlib')
const middleware = require('kone/middleware')
const { Registry } = require('prom-client')
const v = require('valibot')
const { z } = require('zod')
const context = require('../../../lib/context')
const request = require('../../../lib/request')
const response = require('../../../lib/response')

const Kone = require('../kone')

const BODY_LIMIT = '64mb' // above what is sent, because a refused body shows no growth
// Standard Schema v1
const schema = validate => ({ '~standard': { version: 1, vendor: 'test', validate } })
const any = schema(value => ({ value }))
const none = schema(value => ({ issues: Object.keys(value).map(path => ({ message: 'no', path: [path] })) }))

/** Schemas that refuse a name, or a value, and print it. */
const strict = {
  zod: { '/object': z.strictObject({ a: z.number().optional() }), '/record': z.record(z.string().max(3), z.enum(['x'])) },
  valibot: {
    '/object': v.strictObject({ a: v.optional(v.number()) }),
    '/record': v.record(v.pipe(v.string(), v.maxLength(3)), v.picklist(['x']))
  },
  arktype: {
    '/object': imported(({ type }) => type({ '+': 'reject', 'a?': 'number' })),
    '/record': imported(({ type }) => type({ '[string]': "'x'" }))
  }
}

/** arktype is an ES module. */
function imported (make) {
  let made
  return schema(async value => {
    made ??= make(await import('arktype'))
    return made['~standard'].validate(value)
  })
}

/** JSON with a client's text as names and as values, one or many, flat or deep. */
const hostile = [
  text => JSON.stringify({ [text]: 1 }),
  text => JSON.stringify({ a: text, x: text }),
  text => JSON.stringify(Object.fromEntries(pieces(text).map((piece, i) => [piece + i, { [piece]: 1, a: piece }]))),
  text => pieces(text).reduceRight((inner, piece) => `{${JSON.stringify(piece)}:${inner},"a":1}`, '1')
]
const pieces = text => text.match(/[^]{1,64}/g)

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=b'

/**
 * Apps that lead a request through one part of kone each: every middleware of the set, every getter of ctx. The base
 * requests have what the code behind a header depends on: a Range for If-Range, a body for Content-Type.
 */
module.exports = function stations (folder) {
  const files = prepare(folder)
  const set = setStations(files)
  for (const name of Object.keys(middleware)) {
    if (!set.some(([title]) => title.split(' ')[0] === name)) throw new Error(`no station for middleware/${name}`)
  }
  return [...coreStations(), ...set].map(([name, build, ...bases]) => {
    const app = new Kone(build.options)
    app.silent = true
    build(app)
    const listener = app.callback()
    return bases.map(({ enclose = text => text, ...base }) => {
      return { name, listener, enclose, base: { method: 'GET', url: '/', headers: {}, ...base } }
    })
  }).flat()
}

// What of ctx has nothing to read, or ends the request.
const NOT_READ = new Set(['respond', 'inspect', 'toJSON', 'onerror', 'throw', 'assert', 'readBody', 'flushHeaders', 'remove',
  'has', 'set', 'append', 'constructor', 'onFinished'])

/** Calls of the methods that read a request; every getter of the three prototypes is read beside them. */
const CALLS = {
  accepts: ctx => [ctx.accepts(), ctx.accepts('html', 'json'), ctx.accepts(['png', 'text/plain'])],
  acceptsEncodings: ctx => [ctx.acceptsEncodings(), ctx.acceptsEncodings('gzip', 'br')],
  acceptsCharsets: ctx => [ctx.acceptsCharsets(), ctx.acceptsCharsets('utf-8')],
  acceptsLanguages: ctx => [ctx.acceptsLanguages(), ctx.acceptsLanguages('en', 'de-AT')],
  is: ctx => [ctx.is('json', 'urlencoded'), ctx.is('text/*', '+json', 'multipart'), ctx.response.is('html')],
  get: ctx => Object.keys(ctx.headers).map(name => ctx.get(name)),
  vary: ctx => ctx.vary('Accept'),
  redirect: ctx => ctx.redirect('back', '/'),
  back: ctx => ctx.back('/'),
  attachment: ctx => ctx.attachment('a.txt')
}

function readAll (ctx) {
  for (const [object, prototype] of [[ctx, context], [ctx.request, request], [ctx.response, response]]) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (get !== undefined) object[name] // eslint-disable-line no-unused-expressions
      else if (!NOT_READ.has(name) && CALLS[name] === undefined) throw new Error(`ctx.${name} is neither called nor excused`)
    }
  }
  for (const call of Object.values(CALLS)) call(ctx)
  for (const options of [undefined, { signed: true }]) ctx.cookies.get('session', options)
  // what comes from the address or the query may be set again
  const { url } = ctx
  ctx.path = `${ctx.path}x`
  ctx.querystring = `${ctx.querystring}&x`
  ctx.url = url
}

function coreStations () {
  const reading = options => Object.assign(app => {
    app.keys = ['secret']
    app.use(ctx => {
      readAll(ctx)
      ctx.status = 200
      ctx.etag = 'x'
      ctx.body = String(ctx.fresh)
    })
  }, { options })
  const referrer = { host: 'a.com', referer: 'http://a.com/b' }

  return [
    ['ctx', reading({}), {}, { headers: referrer }, { headers: { 'if-none-match': '"a"' } },
      { method: 'POST', headers: { 'content-type': 'text/plain', 'content-length': '1' } }],
    ['ctx of an HTTP proxy', reading({}), { url: 'http://a.com/' }],
    ['ctx in HTTP/2', reading({}), { version: 2 }],
    ['ctx behind proxies', reading({ proxy: true }), {}, { headers: { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'a.com' } }],
    ['ctx behind a number of proxies', reading({ proxy: 2, maxIpsCount: 3 }), {}],
    ['ctx behind known proxies', reading({ proxy: ['127.0.0.1', '1.2.3.4', '10.0.0.0/8', '::1'] }), {}],
    ['ctx.request.readBody', app => app.use(async ctx => { ctx.body = await ctx.request.readBody({ limit: 2 ** 26 }) }),
      { method: 'POST', body: 'x' }],
    ['the text of an error', app => app.use(ctx => ctx.throw(400, ctx.querystring)), {}]
  ]
}

function setStations ({ root, views }) {
  const hello = app => app.use(ctx => { ctx.body = 'hello'.repeat(500) })
  const over = (...made) => app => {
    for (const one of made) app.use(one)
    hello(app)
  }
  const post = (type, body) => ({ method: 'POST', headers: { 'content-type': type, 'content-length': String(body.length) }, body })
  const { bodyParser, compress, conditionalGet, cors, csrf, etag, favicon, health, helmet, i18n, isolate } = middleware
  const { jsonp, logger, metrics, openapi, overload, rateLimit, requestId, router: Router, rpc, session, sse } = middleware
  const { static: serve, template, timeout, upload, validate, websocket } = middleware
  const sealed = session.sealedCookie({ keys: ['k'.repeat(32)] })
  const visited = (ctx, next) => {
    ctx.session.visits = (ctx.session.visits ?? 0) + 1
    return next()
  }
  const limits = Object.fromEntries(['json', 'form', 'text', 'xml'].map(name => [`${name}Limit`, BODY_LIMIT]))
  const parse = options => bodyParser({ enableTypes: ['json', 'form', 'text', 'xml'], ...limits, ...options })

  return [
    ['router', app => {
      const router = new Router()
      const params = ctx => { ctx.body = Object.values(ctx.params) }
      for (const path of ['/a/:b', '/:a/:b/:c', '/a/b.:ext', '/a/:from-:to', '/x/:id(\\d+)', '/files/(.*)', '/:a?/opt', '/a/:rest*',
        /^\/r\/(\w+)$/]) router.all(path, params)
      router.use('/a', (ctx, next) => next())
      const nested = new Router({ prefix: '/n/:id' })
      nested.get('/:x', params)
      router.use('/m', nested.routes())
      app.use(router.routes()).use(router.allowedMethods())
    }, { url: '/a/' }, { url: '/' }, { url: '/x/' }, { url: '/files/' }, { url: '/r/' }, { url: '/m/n/' }, { method: 'OPTIONS', url: '/a/' }],
    ['router of one host', app => {
      app.use(new Router({ host: /^a\.com$/ }).get('/', () => {}).routes())
    }, {}],

    ['bodyParser', over(parse()),
      ...['{"a":1}', 'a=1'].map((body, i) => post(['application/json', FORM][i], body)),
      ...['text/xml', 'text/plain; charset=utf-16', 'text/plain; charset=utf-7', `${FORM}; charset=gb18030`].map(type => post(type, 'a=1')),
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': '9' },
        body: gzipSync('{}'),
        enclose: text => gzipSync(text, { level: 1 })
      }],
    ['bodyParser that removes prototypes', over(parse({ onProtoPoisoning: 'remove' })),
      post('application/json', '{"__proto__":1}')],
    ['bodyParser of as many fields', over(parse({ queryString: { parameterLimit: 10_000, depth: 1000, arrayLimit: 1000 } })),
      post(FORM, 'a=1')],

    ['session', over(session(), visited), { headers: { cookie: `koa:sess=${'a'.repeat(32)}` } }, {}],
    ['session in a sealed cookie', over(session({ store: sealed }), visited), {}],
    ['template', over(template(views), ctx => ctx.render('page', { text: ctx.querystring, list: ctx.query.a })), {}],
    ['views', over(middleware.views(views)), {}],
    ['logger', over(logger(() => {})), {}],
    ['logger of everything', over(logger(() => {}, {
      format: ':remote-addr :method :url :http-version :protocol :hostname :status :content-length :referrer :user-agent ' +
        ':response-time :date :id :req[x-a] :req[host] :res[x-a]'
    })), {}],
    ['static', over(serve(root)), ...['/page.html', '/large.bin', '/', '/none/'].flatMap(url => [
      { url },
      { url, headers: { range: 'bytes=0-1' } }
    ])],
    ['static.final', app => {
      app.use((ctx, next) => next())
      app.final(serve.final(root, { extensions: ['html'], dev: true }))
    }, { url: '/page' }, { method: 'HEAD', url: '/page.html' }],
    ['cors', over(cors()), {}, { method: 'OPTIONS', headers: { origin: 'http://a.com', 'access-control-request-method': 'GET' } }],
    ['cors of some', over(cors({ origin: ctx => ctx.get('Origin'), credentials: true, privateNetworkAccess: true, maxAge: 1 })),
      { method: 'OPTIONS', headers: { origin: 'http://a.com', 'access-control-request-method': 'GET' } }],
    ['csrf', over(session(), bodyParser(limits), (ctx, next) => {
      ctx.session.secret = 'secret'
      return next()
    }, csrf({ ignoredPathGlobs: ['/hooks/**/*a*b*/[ab]?*', '/**/.x/**', '!/hooks/*admin*/**'] })),
    { method: 'POST', url: '/' }, { method: 'POST', url: '/hooks/' }, post(FORM, '_csrf=1'),
    { method: 'POST', url: '/', headers: { 'sec-fetch-site': 'none' } }],
    ['helmet', over(helmet()), {}],
    ['helmet of each request', over(helmet({
      contentSecurityPolicy: { directives: { scriptSrc: [req => `'nonce-${req.headers.nonce?.length}'`] } }
    })), {}],
    ['i18n', app => {
      const locales = { en: { hello: 'hello %s' }, 'de-AT': { hello: 'servus %s' } }
      const modes = ['query', 'subdomain', 'cookie', 'header', 'url', 'tld']
      app.use(i18n(app, { locales, modes }))
      app.use(ctx => { ctx.body = [ctx.t(ctx.querystring), ctx.t('hello', ctx.querystring), ctx.t('hello', { name: ctx.querystring })] })
    }, {}, { headers: { cookie: 'locale=en' } }],
    ['jsonp', over(jsonp()), { url: '/?callback=cb' }, {}],
    ['favicon', over(favicon(path.join(root, 'favicon.ico'))), { url: '/favicon.ico' }, {}],
    ['compress', over(compress({ threshold: 1 })), {}],
    ['compress of what is sent back', over(compress({ threshold: 1 }), ctx => { ctx.body = ctx.querystring }),
      { headers: { 'accept-encoding': 'br' } }],
    ['etag', over(etag(), ctx => { ctx.body = ctx.querystring }), {}],
    ['conditionalGet', over(conditionalGet(), etag()), {}, { headers: { 'if-none-match': '"a"' } }],
    ['requestId', over(requestId()), {}],
    ['rateLimit', over(rateLimit({ max: 1e9 })), {}],
    ['rateLimit by a header', over(rateLimit({ max: 1e9, id: ctx => ctx.get('X-Api-Key') })), {}],
    ['timeout', over(timeout(60_000)), {}],
    ['sse', app => app.use(sse()).use(ctx => {
      ctx.sse().send({ event: ctx.querystring, data: ctx.querystring, id: ctx.sse().lastEventId })
      ctx.sse().end()
    }), {}],
    ['upload', over(upload({ dest: folderOf(root), limits: { fileSize: BODY_LIMIT, fieldSize: BODY_LIMIT } })),
      ...[
        text => part('name="a"', text),
        text => part('name="a"; filename="b"', text),
        text => part(`name="${text}"`, 'x'),
        text => part(`name="a"; filename="${text}"`, 'x'),
        text => part(text, 'x'),
        text => part(`name="a"\r\n${text}: x`, 'x'),
        text => part(`name="a"\r\nContent-Type: ${text}`, 'x'),
        text => part('name="a"', 'x').repeat(Math.ceil(text.length / 64)),
        text => text
      ].map(enclose => ({ ...post(MULTIPART, end(part('name="a"', 'x'))), enclose: text => end(enclose(text)) }))],
    ['rpc', over(rpc({ echo: value => value }, { limit: BODY_LIMIT })),
      { ...post('application/json', '[1]'), url: '/rpc/echo' }, { method: 'POST', url: '/rpc/' }],
    ['websocket', over((ctx, next) => {
      ctx.req[Symbol.for('kone.upgrade')] = { accept () {}, switchProtocols: () => false }
      return next()
    }, websocket(() => {}, { origins: ['http://a.com', /^http:\/\/\w+\.b\.com$/], protocols: ['a'] })), {
      headers: {
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-protocol': 'a, b',
        origin: 'http://a.com'
      }
    }],
    ['websocket, no handshake', over(websocket(() => {})), { headers: { upgrade: 'websocket', connection: 'close' } }],
    ['isolate', over(isolate()), {}],
    ['health', over(health()), { url: '/healthz' }, { url: '/' }],
    ['metrics', over(metrics({ defaults: false, register: new Registry() })), { url: '/metrics' }, { url: '/' }],
    ['metrics with a token', over(metrics({ defaults: false, register: new Registry(), token: 'secret' })), { url: '/metrics' }],
    ['health with details', over(health({ details: true })), { url: '/readyz' }],
    ['overload', over(overload({ maxEventLoopDelay: false, maxRssBytes: '1000gb' })), {}],
    ['openapi', app => {
      app.use(new Router().get('/items/:id', { summary: 'one' }, ctx => {}).routes())
      app.use(openapi(app))
    }, { url: '/openapi.json' }, { url: '/' }],
    ['validate', over(parse(), validate({ query: any, headers: any, cookies: any, body: any })), post('application/json', '{}')],
    ['validate that refuses', over(validate({ query: none, cookies: none })), {}],
    ...Object.entries(strict).map(([library, schemas]) => [
      `validate by ${library}`,
      app => {
        app.use(parse())
        for (const [path, schema] of Object.entries(schemas)) {
          const refuse = validate({ body: schema })
          app.use((ctx, next) => ctx.path === path ? refuse(ctx, next) : next())
        }
      },
      ...Object.keys(strict[library]).flatMap(url => hostile.map(enclose => ({ ...post('application/json', '{}'), url, enclose })))
    ])
  ]
}

function part (parameters, content) {
  return `--b\r\nContent-Disposition: form-data; ${parameters}\r\n\r\n${content}\r\n`
}

function end (parts) {
  return `${parts}--b--\r\n`
}

function prepare (folder) {
  const root = path.join(folder, 'public')
  const views = path.join(folder, 'views')
  for (const one of [root, views]) fs.mkdirSync(one)
  fs.writeFileSync(path.join(root, 'page.html'), '<p>page')
  fs.writeFileSync(path.join(root, 'page.html.gz'), gzipSync('<p>page'))
  fs.writeFileSync(path.join(root, 'index.html'), '<p>index')
  fs.writeFileSync(path.join(root, 'large.bin'), randomBytes(128 * 1024))
  fs.writeFileSync(path.join(root, 'favicon.ico'), 'icon')
  fs.writeFileSync(path.join(views, 'page.html'), '{{ text }}{{ text | upper }}{{ list }}')
  return { root, views }
}

function folderOf (root) {
  return path.dirname(root)
}
