import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import Kone from 'kone'
import bodyParser from 'kone/middleware/bodyParser'
import csrf from 'kone/middleware/csrf'
import favicon from 'kone/middleware/favicon'
import health from 'kone/middleware/health'
import helmet from 'kone/middleware/helmet'
import logger from 'kone/middleware/logger'
import Router from 'kone/middleware/router'
import session from 'kone/middleware/session'
import serve from 'kone/middleware/static'
import template from 'kone/middleware/template'
import { isUp, redis } from './redis.ts'

const root = new URL('../', import.meta.url)
const folder = (name: string) => fileURLToPath(new URL(name, root))

interface Entry {
  name: string
  text: string
}

// Without a SECRET (32 characters or more) sessions end at a restart.
const secret = process.env.SECRET || randomBytes(32).toString('hex')

const MAX = { name: 50, text: 500 } // characters, as in views/index.html

/**
 * Make an app: one for server.ts, and one for each test.
 */
export function createApp ({ quiet = false, https = process.env.HTTPS === 'true' } = {}): Kone {
  const app = new Kone({ proxy: Number(process.env.PROXY_HOPS) || false })
  const entries: Entry[] = [] // put a database here

  app.use(health({ checks: { redis: isUp } })) // /healthz and /readyz
  if (!quiet) app.use(logger())
  // Behind TLS set HTTPS=true. Without TLS a browser must not be redirected to https.
  app.use(helmet({
    strictTransportSecurity: https,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: https ? [] : null } }
  }))
  app.use(favicon(folder('public/favicon.svg'), { mime: 'image/svg+xml' }))
  app.use(serve(folder('public')))
  app.use((ctx, next) => {
    if (https) ctx.cookies.secure = true // the proxy that ends TLS need not say so
    return next()
  })
  app.use(session({
    store: redis ? session.redis(redis) : session.sealedCookie({ keys: [secret] }),
    cookie: { secure: https || undefined }
  }))
  app.use(bodyParser())
  app.use(csrf())
  app.use(template(folder('views')))
  app.use(routes(entries))

  return app
}

function routes (entries: Entry[]) {
  const router = new Router()

  router.get('/', async ctx => {
    await ctx.render('index', { entries, name: ctx.session.name })
  })

  router.post('/entries', ctx => {
    const { name, text } = ctx.request.body as Record<string, unknown>
    if (!isText(name, MAX.name) || !isText(text, MAX.text)) return ctx.throw(400, 'a name and a text, please')
    entries.unshift({ name, text })
    ctx.session.name = name
    ctx.status = 303
    ctx.redirect('/')
  })

  return router.routes()
}

function isText (value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max
}
