// The API as an app written in TypeScript meets it. Compiled as CommonJS and as an ES module,
// as `kone` and as `koa`.
import { AsyncLocalStorage } from 'node:async_hooks'
import http, { ServerResponse, type IncomingMessage, type Server } from 'node:http'
import https from 'node:https'
import http2 from 'node:http2'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import Kone, { compose, createHttpError, HttpError, isHttpError } from 'kone'
import * as namespace from 'kone'
import type { Context, DefaultContext, DefaultState, Middleware, Next, ParameterizedContext } from 'kone'

/** Compiles only if `value` has the type T. */
declare function is<T> (value: T): void
/** Compiles only if the two types are one. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const yes = <T extends true>(): T | void => {}

// the application

const app = new Kone({
  env: 'test',
  keys: ['secret'],
  proxy: true,
  subdomainOffset: 3,
  proxyIpHeader: 'X-Real-IP',
  maxIpsCount: 1,
  asyncLocalStorage: new AsyncLocalStorage<Context>(),
  compose: Kone.compose,
  http1: false,
  Promise
})
is<Kone>(new Kone())
is<Kone>(new Kone({ proxy: 2 }))
is<Kone>(new Kone({ proxy: ['127.0.0.1', '::1'] }))
is<Kone>(new Kone({ keys: { sign: () => '', verify: () => true, index: () => 0 } }))
// @ts-expect-error: there is no such option
is<Kone>(new Kone({ prxy: true }))
// @ts-expect-error: an address is not a list of them
is<Kone>(new Kone({ proxy: '127.0.0.1' }))
// @ts-expect-error: not a promise class
is<Kone>(new Kone({ Promise: Map }))

app.proxy = false
app.proxy = 1
app.proxy = ['10.0.0.1']
// @ts-expect-error: an address is not a list of them
app.proxy = '10.0.0.1'
app.keys = ['a', 'b']
app.silent = true
app.http1 = true
is<string>(app.env)
is<number>(app.subdomainOffset)
is<number>(app.maxIpsCount)
is<string>(app.proxyIpHeader)
is<number>(app.middleware.length)
app.context.answer = 42
is<DefaultContext | undefined>(app.currentContext)
is<string | undefined>(app.currentContext?.path)
is<string | undefined>(new Kone<{ visits: number }>().currentContext?.ip)
is<number | undefined>(new Kone<{ visits: number }, { db: object }>().currentContext?.state.visits)
is<string | undefined>(new Kone<{ visits: number }, { db: object }>().ctxStorage?.getStore()?.path)
is<typeof Kone>(Kone.default)
is<typeof Kone>(namespace.default)
is<any>(app.toJSON())
// @ts-expect-error: read-only
app.currentContext = undefined

is<Server>(app.listen())
is<Server>(app.listen(0))
is<Server>(app.listen(0, () => {}))
is<Server>(app.listen(0, '127.0.0.1', () => {}))
is<Server>(app.listen({ port: 0, host: '::1' }))
is<Server>(app.listen('/tmp/kone.sock'))
http.createServer(app.callback())
https.createServer({}, app.callback())
http2.createServer(app.callback())
is<https.Server>(app.attach(https.createServer({})))
is<http2.Http2Server>(app.attach(http2.createServer()))
// @ts-expect-error: not a server
app.attach({})
// @ts-expect-error: nor is an emitter, although it has `on`
app.attach(process)
is<Promise<void>>(app.close())
is<Promise<void>>(app.close({ timeout: 5000, grace: 0 }))
// @ts-expect-error: milliseconds are a number
app.close({ timeout: '5s' })

async function ask () {
  const answer = await app.inject({ method: 'POST', url: '/', headers: { a: 'b' }, body: { any: 'thing' } })
  app.inject({ url: '/', engine: 'node' })
  // @ts-expect-error: no engine
  app.inject({ url: '/', engine: 'http2' })
  const socket = await app.inject.websocket('/chat', { headers: { cookie: 'a=1' }, protocols: ['a'] })
  for await (const message of socket) is<string | Buffer>(message)
  is<{ code: number, reason: string }>(await socket.closed)
  // @ts-expect-error: it has no connection
  app.inject.websocket('/', { engine: 'fetch' })
  is<number>(answer.status)
  is<string | undefined>(answer.headers['content-type'])
  is<Buffer>(answer.body)
  is<string>(answer.text())
  is<any>(answer.json())
  is<{ id: string }>(answer.json<{ id: string }>())
  // @ts-expect-error: not in the type
  is<string>(answer.json<{ id: string }>().name)
  // @ts-expect-error: no such field
  is<number>(answer.statusCode)
}
is<() => Promise<void>>(ask)

app.on('error', (err, ctx) => {
  is<number | undefined>(err.status)
  is<string>(ctx.method)
})
app.on('error', (err: Error) => { is<string>(err.message) })
app.on('error', (err: Kone.HttpError, ctx: Context) => { is<boolean>(err.expose) })
app.on('finish', ctx => { is<number>(ctx.status) })
app.on('anything', (...args) => { is<any[]>(args) })
app.emit('error', new Error('x'))

// middleware

app.use((ctx, next) => next())
app.use(async (ctx, next) => {
  is<Promise<any>>(next())
  await next()
})
app.use(ctx => { ctx.body = 'hi' })
app.use(() => {})
app.use(function named (ctx) { ctx.status = 204 })
app.use(ctx => {
  // @ts-expect-error: a status is a number
  ctx.status = '204'
  // @ts-expect-error: a host is text
  ctx.host = 1
})
// @ts-expect-error: not a function
app.use('middleware')
// @ts-expect-error: `next` is not a string
app.use((ctx, next: string) => {})

app.final(ctx => { ctx.set('X-Kone', 'yes') })
app.final(async ctx => { is<string>(ctx.path) })
// @ts-expect-error: the flat stage has no next
app.final((ctx, next) => next())
is<typeof app>(app.final(() => {}))
is<typeof app>(app.onClose(async () => {}, { before: true }).onClose(() => 1))
// @ts-expect-error -- misspelt
app.onClose(() => {}, { befor: true })

app.use(Kone.compose([(ctx: Context, next: Next) => next(), (ctx: Context) => {}]))
// without types, a ctx of any names
const trail = compose([(ctx, next) => { ctx.state.trail = ctx.path; return next() }, ctx => { ctx.body = ctx.state.trail }])
app.use(trail)
app.use(compose([(ctx, next) => { ctx.state.trail = ctx.path; return next() }]))
is<Promise<void>>(compose([(ctx: { n: number }, next) => next()])({ n: 1 }, () => {}))
app.use(app.createAsyncCtxStorageMiddleware())

// state and context of one's own

interface State { user: { name: string } }
interface Extra { db: { find (id: number): string } }

const typed = new Kone<State, Extra>()
typed.use((ctx, next) => {
  is<string>(ctx.state.user.name)
  is<string>(ctx.db.find(1))
  // @ts-expect-error: not in State
  is<string>(ctx.state.usr)
  // @ts-expect-error: not in Extra
  is<any>(ctx.dbs)
  return next()
})
typed.final(ctx => { is<string>(ctx.state.user.name) })
typed.on('finish', ctx => { is<string>(ctx.state.user.name) })

const guarded = app.use<{ id: string }, { log (line: string): void }>((ctx, next) => {
  is<string>(ctx.state.id)
  ctx.log('line')
  return next()
})
guarded.use(ctx => { is<string>(ctx.state.id) })

const answer: Middleware<State, Extra, { ok: boolean }> = ctx => {
  ctx.body = { ok: true }
  // @ts-expect-error: not the body that was promised
  ctx.body = { ok: 'yes' }
}
typed.use(answer)
typed.use(Kone.compose([answer, answer]))
typed.use(compose([answer, answer]))

const narrow = (ctx: ParameterizedContext<State, Extra>, next: Next) => next()
typed.use(narrow)

// an app with a state of its own and nothing else has no names that nobody declared

const strict = new Kone<State>()
strict.use((ctx, next) => {
  is<string>(ctx.state.user.name)
  ctx.body = ctx.request.path
  // @ts-expect-error: misspelt
  ctx.boddy = 1
  // @ts-expect-error: misspelt
  is<any>(ctx.reqest.foo)
  // @ts-expect-error: misspelt
  is<any>(ctx.request.foo)
  // @ts-expect-error: not in State
  is<any>(ctx.state.usr)
  return next()
})
// @ts-expect-error: misspelt
strict.final(ctx => { ctx.boddy = 1 })
// @ts-expect-error: misspelt
strict.on('finish', ctx => { is<any>(ctx.boddy) })

const open = (ctx: Context, next: Next) => next()
const anything: Middleware<any, any> = (ctx, next) => next()
const added = [strict.use(open), strict.use(anything), strict.use(compose([open, open])), strict.use(trail), typed.use(open)]
for (const more of added) {
  more.use(ctx => {
    is<string>(ctx.state.user.name)
    // @ts-expect-error: what takes a ctx of any names adds none
    ctx.boddy = 1
    // @ts-expect-error: nor to the state
    is<any>(ctx.state.usr)
  })
}
strict.use(answer).use<{ id: string }, { log (line: string): void }>((ctx, next) => next()).use(ctx => {
  ctx.log(ctx.state.id + ctx.state.user.name + ctx.db.find(1))
  // @ts-expect-error: misspelt
  ctx.boddy = 1
})
// a statement of its own leaves the type of the app as it is
strict.use(answer)
// @ts-expect-error: nothing was chained
strict.use(ctx => { is<any>(ctx.db) })

new Kone().use(open).use(answer).use(ctx => { ctx.boddy = ctx.db.find(1) })
new Kone<any>().use(ctx => { ctx.boddy = 1 })
new Kone<DefaultState>().use(ctx => { ctx.boddy = 1 })
const setUp = (any: Kone) => { any.use(ctx => { ctx.boddy = 1 }) }
setUp(strict)

// a context that a test puts together
const fake = {} as Context
fake.host = 'example.com'
fake.ip = '127.0.0.1'
fake.request.type = 'text/plain'

yes<Same<Parameters<Kone.Middleware>[0], Kone.ParameterizedContext<DefaultState, DefaultContext, any>>>()

// ctx, request, response

app.use(async ctx => {
  is<Kone>(ctx.app)
  is<IncomingMessage>(ctx.req)
  is<ServerResponse>(ctx.res)
  is<Kone.Request>(ctx.request)
  is<Kone.Response>(ctx.response)
  is<any>(ctx.state.whatever)
  is<{ user: string }>(ctx.state)
  is<any>(ctx.whatever)
  is<string>(ctx.originalUrl)
  ctx.respond = false

  is<string | undefined>(ctx.cookies.get('a', { signed: true }))
  ctx.cookies.set('a', 'b', { maxAge: 1000, sameSite: 'lax', httpOnly: true, partitioned: true })
  ctx.cookies.set('a', null)
  // @ts-expect-error: no such policy
  ctx.cookies.set('a', 'b', { sameSite: 'loose' })

  is<string | undefined>(ctx.headers['content-type'])
  is<string>(ctx.get('Host'))
  is<string>(ctx.method)
  is<string>(ctx.url)
  is<string>(ctx.origin)
  is<string>(ctx.href)
  is<string>(ctx.path)
  is<string | string[] | undefined>(ctx.query.a)
  is<string>(ctx.querystring)
  is<string>(ctx.search)
  is<string>(ctx.host)
  is<string>(ctx.hostname)
  is<URL>(ctx.URL)
  is<boolean>(ctx.fresh && ctx.stale && ctx.idempotent && ctx.secure)
  is<Socket>(ctx.socket)
  is<string>(ctx.protocol)
  is<string>(ctx.ip)
  is<string[]>(ctx.ips)
  is<string[]>(ctx.subdomains)
  is<string[]>(ctx.accepts())
  is<string | false>(ctx.accepts('json', 'html'))
  is<string | false>(ctx.acceptsEncodings(['gzip']))
  is<string | false>(ctx.acceptsCharsets('utf-8'))
  is<string | false>(ctx.acceptsLanguages('en'))
  is<string | false>(ctx.accept.charset('utf-8'))
  is<string | false | null>(ctx.is('json'))
  is<number>(ctx.request.length)
  is<string>(ctx.request.charset)
  is<string>(ctx.request.type)
  is<Buffer>(await ctx.request.readBody())
  is<Buffer>(await ctx.request.readBody({ limit: 1024 }))
  // @ts-expect-error: bytes are a number
  ctx.request.readBody({ limit: '1kb' })

  ctx.status = 200
  ctx.message = 'fine'
  ctx.length = 3
  ctx.type = 'html'
  ctx.etag = 'abc'
  ctx.lastModified = new Date()
  ctx.body = 'text'
  ctx.body = { any: 'object' }
  ctx.body = null
  ctx.body = Readable.from(['a'])
  ctx.body = new Blob(['a'])
  ctx.body = new Response('a')
  ctx.response.body = 'text'
  ctx.set('X-A', 'b')
  ctx.set('X-A', ['b', 'c'])
  ctx.set({ 'X-A': 'b', 'X-B': ['c'] })
  ctx.append('Vary', 'Origin')
  ctx.remove('X-A')
  is<boolean>(ctx.has('X-A'))
  is<boolean>(ctx.response.has('X-A'))
  is<string>(ctx.response.get('X-A'))
  is<string | false | null>(ctx.response.is('html'))
  ctx.vary('Accept')
  ctx.redirect('/there')
  ctx.redirect('back', '/home')
  ctx.back('/home')
  ctx.attachment('a.txt', { type: 'inline' })
  is<boolean>(ctx.headerSent && ctx.writable)
  ctx.flushHeaders()

  ctx.onFinished(err => { is<Error | null>(err) })
})

// errors

// (TypeScript wants `ctx` annotated where ctx.assert() is to narrow)
app.use((ctx: Context) => {
  const name: string | undefined = ctx.query.name as string | undefined
  ctx.assert(name, 400, 'name missing', { field: 'name' })
  is<string>(name)
  ctx.assert.equal(name, 'kone', 401)
  ctx.assert.deepEqual({}, {}, 400)
  if (name === 'a') ctx.throw(400)
  if (name === 'b') ctx.throw(400, 'name required')
  if (name === 'c') ctx.throw(400, 'name required', { field: 'name' })
  if (name === 'd') ctx.throw('name required', 400)
  if (name === 'e') ctx.throw(new Error('x'), 422)
  is<404>(Kone.createHttpError(404, 'no such user').status)
  is<404>(createHttpError(404).status)
  is<Error>(new Kone.createHttpError.NotFound())
  // @ts-expect-error: it is abstract, and throws
  is<Error>(new HttpError('no such user'))
  // @ts-expect-error: the same
  is<Error>(Kone.HttpError('no such user'))
  try {
    JSON.parse(name)
  } catch (err) {
    if (err instanceof HttpError) {
      is<number>(err.status)
      is<boolean>(err.expose)
    }
    is<boolean>(err instanceof Kone.HttpError)
    if (Kone.isHttpError(err)) is<number>(err.statusCode)
    if (isHttpError(err)) is<number>(err.statusCode)
  }
})

// what Koa takes at run time

new Kone<{ user: string }>().use(ctx => {
  ctx.set('X-Length', ctx.length)
  ctx.set({ 'X-Length': ctx.length, 'X-Name': 'a' })
  ctx.append('X-Length', 1)
  ctx.lastModified = 'Mon, 01 Jan 2024 00:00:00 GMT'
  ctx.response.lastModified = new Date(0)
  is<number>(ctx.lastModified.getTime())
  ctx.onFinished(err => is<string | undefined>(err?.code))
  is<boolean>(ctx.outgoing instanceof ServerResponse || ctx.outgoing.res !== null)
  // @ts-expect-error: neither a date nor its text
  ctx.lastModified = 5
})
