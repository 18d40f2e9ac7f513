// The set, imported one by one and all at once, in app.use() and app.final().
import Kone, { type Context } from 'kone'
import * as set from 'kone/middleware'
import bodyParser from 'kone/middleware/bodyParser'
import compress from 'kone/middleware/compress'
import conditionalGet from 'kone/middleware/conditionalGet'
import cors from 'kone/middleware/cors'
import csrf from 'kone/middleware/csrf'
import etag from 'kone/middleware/etag'
import favicon from 'kone/middleware/favicon'
import helmet from 'kone/middleware/helmet'
import i18n from 'kone/middleware/i18n'
import isolate from 'kone/middleware/isolate'
import jsonp from 'kone/middleware/jsonp'
import logger from 'kone/middleware/logger'
import rateLimit from 'kone/middleware/rateLimit'
import requestId from 'kone/middleware/requestId'
import Router from 'kone/middleware/router'
import rpc from 'kone/middleware/rpc'
import session from 'kone/middleware/session'
import sse from 'kone/middleware/sse'
import serve from 'kone/middleware/static'
import template from 'kone/middleware/template'
import timeout from 'kone/middleware/timeout'
import upload from 'kone/middleware/upload'
import views from 'kone/middleware/views'
import websocket from 'kone/middleware/websocket'

declare function is<T> (value: T): void
declare const client: {
  get (key: string): Promise<any>
  set (...args: any[]): Promise<any>
  del (...args: any[]): Promise<any>
  eval (...args: any[]): Promise<any>
}

const app = new Kone()
const router = new Router({ prefix: '/api' })

router.get('/users/:id', ctx => { ctx.body = ctx.params.id })
router.post('user', '/users', (ctx, next) => next())

app.use(isolate())
app.use(logger())
app.use(requestId())
app.use(timeout(1000))
app.use(compress({ threshold: 1024 }))
app.use(conditionalGet())
app.use(etag())
app.use(favicon('favicon.ico'))
app.use(helmet())
app.use(cors({ origin: 'https://example.com', credentials: true }))
app.use(cors({ origin: ['https://example.com', /^https:\/\/\w+\.example\.com$/] as const }))
app.use(serve('public', { maxage: 1000, index: 'index.html', immutable: true }))
app.use(rateLimit({ max: async ctx => ctx.path.length, standardHeaders: 'draft-11' }))
const isUp: boolean = rateLimit().isStoreUp
// @ts-expect-error: there is no such draft here
rateLimit({ standardHeaders: isUp ? 'draft-7' : false })
app.use(rateLimit({ driver: 'memory', max: 10, duration: 60000, id: (ctx: Context) => ctx.ip }))
app.use(session({ key: 'sid', store: session.redis(client), cookie: { maxAge: 1000, sameSite: 'strict' } }))
app.use(session({ store: session.sealedCookie({ keys: ['of 32 bytes or more'] }) }))
app.use(session({ externalKey: { get: ctx => ctx.get('x-id'), set (ctx, id) { ctx.set('x-id', id) } } }))
app.use(bodyParser({ jsonLimit: '1mb', enableTypes: ['json', 'form'] }))
app.use(upload({ dest: '/tmp', limits: { fileSize: 1024 } }))
app.use(upload({
  storage: upload.memoryStorage(),
  fields: [{ name: 'avatar', maxCount: 1 }, { name: 'photos' }],
  filter: async (ctx, file) => ctx.method === 'POST' && file.mimetype.startsWith('image/')
}))
app.use(csrf())
app.use(i18n(app, { directory: 'locales', locales: ['en', 'zh'], modes: ['query', 'cookie'] }))
app.use(jsonp({ callbackName: 'cb' }))
app.use(sse({ heartbeat: 1000 }))
app.use(rpc({ add: (a: number, b: number) => a + b }, { prefix: '/rpc' }))
app.use(template('views', { extension: 'html', map: { html: 'nunjucks' }, options: { noCache: true, site: 'kone' } }))
// @ts-expect-error: true or false
template('views', { options: { noCache: 'yes' } })
app.use(views('views'))
app.use(websocket(async (socket, ctx) => {
  is<string>(ctx.path)
  for await (const message of socket) {
    is<string | Buffer>(message)
    is<Promise<void>>(socket.send(message))
  }
  socket.on('message', (data, isBinary) => is<[Buffer, boolean]>([data, isBinary]))
  socket.send('x', err => is<Error | undefined>(err))
  is<number>((await socket.closed).code)
}, { origins: ['https://a.example', /^https:\/\/\w+\.a\.example$/], protocols: ['v1'], maxConnections: 5 }))
router.get('/chats/:id', websocket((socket, ctx) => is<Promise<void>>(socket.send(ctx.params.id))))
// @ts-expect-error: an array
websocket(() => {}, { origins: 'https://a.example' })
app.use(router.routes())
app.use(router.allowedMethods({ throw: true }))

app.final(logger.final())
app.final(jsonp.final({ callbackName: 'cb' }))
app.final(template.final())

app.use(async (ctx, next) => {
  is<Promise<any>>(ctx.render('index', { title: 'kone' }))
  ctx.session.user = 'tobi'
  is<string>(ctx.t('hello'))
  const stream = ctx.sse()
  stream.send({ event: 'tick', data: { at: 1 } })
  stream.end()
  is<any>(ctx.request.body)
  is<string | undefined>(ctx.request.files?.[0]?.path)
  await next()
})

// an app with a state and a context of its own sees them, and nothing else

const typed = new Kone<{ visits: number }, { db: object }>()
typed.use(async (ctx, next) => {
  await ctx.render('index', { csrf: ctx.state._csrf, id: ctx.state.id, visits: ctx.state.visits })
  is<any>(ctx.session.anything)
  is<string>(ctx.t('hello'))
  is<string>(ctx.i18n.locale)
  is<boolean>(ctx.sse().send('tick'))
  is<AbortSignal>(ctx.signal)
  is<unknown>(ctx.params)
  is<string | RegExp | undefined>(ctx._matchedRoute)
  is<unknown>(ctx.request.body)
  ctx.compress = { threshold: '1kb' }
  ctx.disableBodyParser = true
  ctx.session = null
  ctx.session = { user: 'tobi' }
  // @ts-expect-error: unknown until it is validated
  is<string>(ctx.request.body)
  // @ts-expect-error: a token is text
  is<number>(ctx.state._csrf)
  // @ts-expect-error: not in the state
  is<any>(ctx.state.user)
  // @ts-expect-error: nobody declared it
  is<any>(ctx.whatever)
  // @ts-expect-error: there is no such option
  ctx.compress = { thresholds: 1 }
  await next()
})
typed.use(session<{ user?: string }>()).use(ctx => {
  is<string | undefined>(ctx.session.user)
  // @ts-expect-error: text
  ctx.session.user = 1
})

app.use(set.logger())
app.use(set.static('public'))
app.use(set.session())
app.use(set.views('views'))
is<typeof bodyParser>(set.bodyParser)

// @ts-expect-error: the folder is text
serve(1)
// @ts-expect-error: milliseconds are a number
timeout('1s')
// @ts-expect-error: there is no such option
bodyParser({ jsonLimits: '1mb' })
// @ts-expect-error: there is no such option
session({ stores: session.memory() })
// @ts-expect-error: keys are a list
session.sealedCookie({ keys: 'secret' })
// @ts-expect-error: a view has a name
app.use(ctx => ctx.render())
// @ts-expect-error: the flat stage is no onion
app.final(logger())
