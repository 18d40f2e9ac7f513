'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')
const fs = require('node:fs')
const http2 = require('node:http2')
const path = require('node:path')
const { PassThrough, Readable } = require('node:stream')
const { setTimeout: sleep } = require('node:timers/promises')
const { promisify } = require('node:util')
const kone = require('../../lib/servers/kone')

/*
 * Shapes of requests and responses, each with an app that is the same code on kone and on Koa.
 *
 * handler, or mount(app, { folder, set }): what the app does; set: a middleware of kone, or the package of Koa that
 * it replaces. request, expected: as verify.js takes them. load: beside 50 connections of wrk. isOther: kone's middleware has
 * other headers than the package. CORE: those that revisions of kone are compared in; the others are for --koa.
 */

const K = 1024
const EVENTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(letter => `data: ${letter.repeat(40)}\n\n`)
const PIECES = Array.from({ length: 4 }, (_, i) => `${i}.`.padEnd(1000, 'x'))
const FORTY = Array.from({ length: 40 }, (_, i) => [`X-Field-${i}`, `value ${i}`])

const text = body => ({ status: 200, type: 'text/plain; charset=utf-8', body })
const bytes = size => ({ ...text(body => body.length === size), type: 'application/octet-stream' })
const hello = ctx => { ctx.body = 'Hello World' }
const list = size => Array.from({ length: Math.ceil(size / 64) }, (_, id) => ({ id, name: 'a name of some length'.padEnd(40, '.') }))
const [LIST, LONG] = [list(64 * K), list(K * K)]
const TEXT_OF_1_MB = 'Text as people write it: a line of it.\n'.repeat(K * K / 39)
const BUFFER_OF_1_MB = Buffer.alloc(K * K, 'x')

const respond = (body, expected = text(body)) => ({ handler: ctx => { ctx.body = body }, expected })
const flow = (make, expected, type = 'text/plain') => ({ handler: ctx => Object.assign(ctx, { type, body: make() }), expected })
const json = value => respond(value, { status: 200, type: 'application/json; charset=utf-8', body: JSON.stringify(value) })
const after = wait => ({
  async handler (ctx) {
    await wait()
    hello(ctx)
  },
  load: { pipeline: 16 }
})
const each = requests => ({ load: { generator: 'split', pieces: 1, each: requests } })
const post = (handler, body, sent, load = {}) =>
  ({ handler, request: { method: 'POST', headers: { 'content-type': 'text/plain' }, ...sent }, expected: text(body), load })
const echo = ctx => {
  ctx.type = 'text/plain'
  ctx.length = ctx.request.length
  ctx.body = ctx.req
}
function written (body, left) {
  if (left === 0) return body.end()
  body.write('ten bytes.')
  setImmediate(written, body, left - 1)
  return body
}
const files = (app, { folder, set }) => { app.use(set('static')(folder)) }
const file = bytes => ({ mount: files, request: { path: `/${bytes}.txt` }, expected: text(body => body.length === bytes), isOther: true })

const CORE = {
  'ctx.res': {
    handler (ctx) {
      for (const [name, value] of FORTY.slice(0, 5)) ctx.res.setHeader(name, value)
      hello(ctx)
    }
  },
  stream: flow(() => Readable.from(PIECES), text(PIECES.join(''))),
  'static 64 KB': file(64 * K),
  'pipelined 16, at once': { load: { pipeline: 16 } },
  'pipelined 16, nextTick': after(promisify(process.nextTick)),
  'pipelined 16, setImmediate': after(promisify(setImmediate)),
  'pipelined 16, 5 ms': after(() => sleep(5))
}

const als = new AsyncLocalStorage()
let random = 0

const SHAPES = {
  ...CORE,
  '60 request fields': {
    handler: ctx => { ctx.body = ctx.get('X-Field-39') },
    request: { headers: Object.fromEntries([...FORTY, ...FORTY.slice(0, 20).map(([name, value]) => [`${name}-More`, value])]) },
    expected: text('value 39')
  },
  '100 cookies': {
    handler: ctx => { ctx.body = ctx.cookies.get('cookie99') },
    request: { headers: { cookie: Array.from({ length: 100 }, (_, i) => `cookie${i}=value${i}`).join('; ') } },
    expected: text('value99')
  },
  'raw POST of 1 MB': post(async ctx => {
    let size = 0
    for await (const chunk of ctx.req) size += chunk.length
    ctx.body = String(size)
  }, String(K * K), { size: K * K }, { generator: 'split', pieces: 1 }),
  '1 MB of JSON, koa-bodyparser': {
    mount (app) {
      app.use(require('koa-bodyparser')({ jsonLimit: '2mb' }))
      app.use(ctx => { ctx.body = String(ctx.request.body.length) })
    },
    request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(LONG) },
    expected: text(String(LONG.length)),
    load: { generator: 'split', pieces: 1 }
  },
  'a body in 12 pieces': post(echo, PIECES[0], { body: PIECES[0] }, { generator: 'split', pieces: 12 }),
  'a body echoed': post(echo, PIECES[0], { body: PIECES[0] }),
  '40 set()': {
    handler (ctx) {
      for (const [name, value] of FORTY) ctx.set(name, value)
      hello(ctx)
    }
  },
  '10 names that are new': {
    handler (ctx) {
      for (let i = 0; i < 10; i++) ctx.set(`X-${(random++).toString(36)}`, 'value')
      hello(ctx)
    }
  },
  'signed cookies': {
    mount (app) {
      app.keys = ['a key that signs']
      app.use(ctx => {
        ctx.cookies.set('user', ctx.cookies.get('user', { signed: true }) ?? 'ada')
        hello(ctx)
      })
    }
  },
  '100 res.write': {
    handler (ctx) {
      ctx.respond = false
      ctx.res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' })
      for (let i = 0; i < 100; i++) ctx.res.write('ten bytes.')
      ctx.res.end()
    },
    expected: text('ten bytes.'.repeat(100))
  },
  'a write per tick': flow(() => written(new PassThrough(), 10), text('ten bytes.'.repeat(10))),
  'server-sent events': flow(() => {
    const body = new PassThrough()
    for (const event of EVENTS) body.write(event)
    return body.end()
  }, { status: 200, type: /^text\/event-stream/, body: EVENTS.join('') }, 'text/event-stream'),
  'a Buffer of 1 MB': respond(BUFFER_OF_1_MB, bytes(K * K)),
  'text of 1 MB': respond(TEXT_OF_1_MB),
  'JSON of 64 KB': json(LIST),
  'JSON of 1 MB': json(LONG),
  'a file of 1 MB': {
    mount (app, { folder }) {
      app.use(ctx => {
        ctx.type = 'text/plain'
        ctx.length = K * K
        ctx.body = fs.createReadStream(path.join(folder, `${K * K}.txt`))
      })
    },
    expected: text(body => body.length === K * K)
  },
  'static, 1 MB': file(K * K),
  'an error, 400': { handler: ctx => ctx.throw(400, 'no number'), expected: { ...text('no number'), status: 400 }, load: { isFailing: true } },
  'an error, 500': {
    mount (app) {
      app.silent = true
      app.use(() => { throw new Error('a fault of the app') })
    },
    expected: { ...text('Internal Server Error'), status: 500 },
    load: { isFailing: true }
  },
  'not found, 404': { handler: () => {}, expected: { ...text('Not Found'), status: 404 }, load: { isFailing: true } },
  redirect: { handler: ctx => ctx.redirect('/there'), expected: { status: 302, type: /^text\/html/, body: body => body.includes('/there') } },
  AsyncLocalStorage: {
    mount (app) {
      app.use((ctx, next) => als.run({ id: 'Hello World' }, next))
      app.use(async ctx => {
        await null
        ctx.body = als.getStore().id
      })
    }
  },
  '50 async layers': {
    mount (app) {
      for (let i = 0; i < 50; i++) app.use(async (ctx, next) => { await next() })
      app.use(hello)
    }
  },
  'HTTP/2': {
    mount (app) {
      app.use(hello)
      return http2.createServer(app.callback())
    },
    load: { generator: 'h2', connections: 5, pipeline: 10 }
  },
  'one request per connection': each(1),
  'two requests per connection': each(2),
  'five requests per connection': each(5),
  'Connection: close': { request: { headers: { connection: 'close' } } },
  '2,500 idle connections': { idle: 2500 }
}

exports.shapes = Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) =>
  [name, { handler: hello, request: {}, expected: text('Hello World'), load: {}, isCore: name in CORE, ...shape }]))

/** The app of a shape; with `mount` that returns something, what listens in its place. */
function start (App, set, [name, folder]) {
  const { handler, mount = app => { app.use(handler) } } = exports.shapes[name]
  const app = new App()
  return mount(app, { folder, set }) ?? app
}

// Names that are packages of the lab: koa-static is the twin of static.
exports.kone = { start: args => start(kone('.'), name => kone(`middleware/${name}`), args) }
exports.koa = { start: args => start(require('koa'), name => require(`koa-${name}`), args) }

/** Write the files that the apps serve. */
exports.prepare = function (folder) {
  for (const bytes of [64 * K, K * K]) fs.writeFileSync(path.join(folder, `${bytes}.txt`), BUFFER_OF_1_MB.subarray(0, bytes))
}
