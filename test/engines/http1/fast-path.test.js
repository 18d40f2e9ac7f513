'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { Readable } = require('node:stream')

const Kone = require('../../helpers/kone')
const { get, talk } = require('./sides')

/*
 * What makes node's own req and res, and what does not. lib/front/README.md has the table; here every row of it is run.
 */

const post = body => `POST /?a=b HTTP/1.1\r\nHost: a:1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
  `Cookie: c=d\r\nAccept: text/html\r\n\r\n${body}`

// Middleware of connect's kind reads ctx.req and ctx.res itself.
const connect = fn => (ctx, next) => new Promise((resolve, reject) => {
  fn(ctx.req, ctx.res, err => err ? reject(err) : resolve(next()))
})

const uses = fn => app => app.use(fn)

const session = app => {
  app.keys = ['k']
  app.use(require('kone/middleware/session')())
}

/** Row of the table → what it does to an app. */
const ROWS = {
  'ctx.body = string, Buffer, object or null': uses(ctx => { ctx.body = { a: 1 } }),
  'ctx.body = stream, Blob, ReadableStream or Response': uses(ctx => { ctx.body = Readable.from(['a', Buffer.from('b')]) }),
  'ctx.request.readBody()': uses(async ctx => { ctx.body = await ctx.request.readBody({ limit: 100 }) }),
  'ctx.onFinished()': uses(ctx => {
    ctx.onFinished(() => {})
    ctx.body = 'x'
  }),
  'ctx.cookies': uses(ctx => {
    ctx.cookies.get('c')
    ctx.cookies.set('e', 'f')
    ctx.body = 'x'
  }),
  'ctx.throw()': uses(ctx => ctx.throw(418)),
  'app.final()': app => app.final(ctx => ctx.set('X', 'y')),
  "app.on('finish')": app => app.on('finish', () => {}),
  'ctx.req, ctx.res': uses((ctx, next) => ctx.req && ctx.res && next()),
  'kone/middleware/bodyParser': uses(require('kone/middleware/bodyParser')()),
  'kone/middleware/conditionalGet': uses(require('kone/middleware/conditionalGet')()),
  'kone/middleware/cors': uses(require('kone/middleware/cors')()),
  'kone/middleware/csrf': app => {
    session(app)
    app.use(require('kone/middleware/csrf')())
  },
  'kone/middleware/etag': uses(require('kone/middleware/etag')()),
  'kone/middleware/helmet': uses(require('kone/middleware/helmet')()),
  'kone/middleware/jsonp': uses(require('kone/middleware/jsonp')()),
  'kone/middleware/logger': uses(require('kone/middleware/logger')({ info () {}, warn () {}, error () {} })),
  'kone/middleware/requestId': uses(require('kone/middleware/requestId')()),
  'kone/middleware/session': app => {
    session(app)
    app.use((ctx, next) => {
      ctx.session.a = 1
      return next()
    })
  },
  '@koa/cors': uses(require('@koa/cors')()),
  '@koa/router': uses(routes(require('@koa/router'))),
  '@koa/bodyparser': uses(require('@koa/bodyparser').bodyParser()),
  'koa-bodyparser': uses(require('koa-bodyparser')()),
  'koa-conditional-get': uses(require('koa-conditional-get')()),
  'koa-etag': uses(require('koa-etag').default()),
  'koa-helmet': uses(require('koa-helmet')()),
  'koa-logger': uses(require('koa-logger')(() => {})),
  'koa-mount': uses(require('koa-mount')('/', ctx => { ctx.body = 'mounted' })),
  'koa-router': uses(routes(require('koa-router'))),
  'koa-session': app => {
    app.keys = ['k']
    app.use(require('koa-session').default(app))
  },
  'koa-static, a file': uses(ctx => require('koa-send')(ctx, 'sides.js', { root: __dirname })),
  morgan: uses(connect(require('morgan')('tiny', { stream: { write () {} } }))),
  compression: uses(connect(require('compression')()))
}

function routes (Router) {
  return new Router().all('/', ctx => { ctx.body = 'routed' }).routes()
}

/** Serves one request, and gives what it led to; a request of the front. */
async function serve (setup, bytes) {
  const app = new Kone()
  app.silent = true
  setup(app)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const client = await talk(server.address().port, bytes)
    await client.until(/\r\n\r\n[^]*$/)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Does middleware make node's objects? */
async function makes (setup) {
  let incoming
  await serve(app => {
    app.use((ctx, next) => {
      incoming = ctx.request.incoming
      return next()
    })
    setup(app)
    app.use(ctx => { ctx.body = 'end' })
  }, post('{"a":"b"}'))
  assert(!(incoming instanceof http.IncomingMessage), 'the front has this request')
  return incoming.req !== null || incoming.outgoing.res !== null
}

describe('the table of lib/front/README.md', () => {
  const text = fs.readFileSync(path.join(__dirname, '../../../lib/front/README.md'), 'utf8')
  const rows = new Map([...text.matchAll(/^\| `(.+?)` \| (no|yes) \|.*$/gm)].map(([, name, makes]) => [name, makes === 'yes']))

  it('should have a row for everything that is known here', () => {
    assert.deepEqual([...rows.keys()].toSorted(), Object.keys(ROWS).toSorted())
  })

  for (const [name, expected] of rows) {
    it(`should be right: ${name} ${expected ? 'makes' : 'does not make'} them`, async () => {
      assert.equal(await makes(ROWS[name]), expected)
    })
  }
})

describe("the core's accessors", () => {
  const touched = {}

  // What hands out node's objects, by contract.
  const NODES = new Set(['req', 'res'])

  before(async () => {
    let failed
    await serve(app => app.on('error', err => { failed = err }).use(ctx => {
      const incoming = ctx.request.incoming
      for (const part of ['ctx', 'request', 'response']) {
        const object = part === 'ctx' ? ctx : ctx[part]
        for (const name of accessors(object)) {
          if (NODES.has(name)) continue
          try {
            const value = object[name]
            if (!value) touched[`${part}.${name}`] = incoming.req !== null
          } catch {}
          touched[`${part}.${name}`] = incoming.req !== null
        }
      }
      const calls = {
        'ctx.get': () => ctx.get('X-Any'),
        'ctx.is': () => ctx.is('json'),
        'ctx.accepts': () => [ctx.accepts('html'), ctx.acceptsEncodings('gzip'), ctx.acceptsCharsets('utf-8'), ctx.acceptsLanguages('de')],
        'ctx.set': () => [ctx.set('X', '1'), ctx.append('X', '2'), ctx.remove('X'), ctx.response.has('X'), ctx.vary('A')],
        'ctx.redirect': () => [ctx.redirect('/'), ctx.back(), ctx.attachment('a.txt')],
        'ctx.assert': () => ctx.assert(true),
        'ctx.toJSON': () => [ctx.toJSON(), ctx.inspect(), ctx.request.toJSON(), ctx.response.toJSON()],
        'ctx.cookies': () => [ctx.cookies.get('c'), ctx.cookies.set('a', 'b')],
        'ctx.url=': () => { ctx.url = '/x'; ctx.method = 'PUT'; ctx.path = '/y'; ctx.query = { a: 'b' }; ctx.search = '?c'; ctx.request.ip = 'me' },
        'ctx.status=': () => { ctx.status = 201; ctx.message = 'm'; ctx.type = 'html'; ctx.length = 3; ctx.etag = 'e'; ctx.lastModified = new Date() },
        'ctx.state': () => { ctx.state.a = ctx.app.env; ctx.respond = true },
        'ctx.flushHeaders': () => { ctx.body = 'abc'; return [ctx.headerSent, ctx.writable, ctx.body] }
      }
      for (const [name, call] of Object.entries(calls)) {
        call()
        touched[name] = incoming.req !== null
      }
      touched['ctx.req'] = Boolean(ctx.req) && incoming.req !== null
    }), get('/'))
    assert.ifError(failed)
  })

  function accessors (object) {
    const names = new Set()
    for (let at = object; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(at))) if (get) names.add(name)
    }
    return names
  }

  it("should not make node's objects, one and all", () => {
    const { 'ctx.req': real, ...rest } = touched
    assert(Object.keys(rest).length > 80, `${Object.keys(rest).length} accessors seen`)
    assert.deepEqual(Object.entries(rest).filter(([, made]) => made), [])
    assert.equal(real, true)
  })
})
