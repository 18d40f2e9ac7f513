import Kone, { isHttpError, type Context, type Next } from 'kone'
import bodyParser from 'kone/middleware/bodyParser'
import health from 'kone/middleware/health'
import logger from 'kone/middleware/logger'
import metrics from 'kone/middleware/metrics'
import openapi from 'kone/middleware/openapi'
import rateLimit from 'kone/middleware/rateLimit'
import Router from 'kone/middleware/router'
import validate from 'kone/middleware/validate'
import { z } from 'zod'
import { isUp, redis } from './redis.ts'

const Item = z.object({ name: z.string().min(1).max(100), price: z.number().nonnegative() })
const Stored = Item.extend({ id: z.number() })
type Items = Map<number, z.infer<typeof Stored>>

const Id = z.object({ id: z.coerce.number().int().positive() })
const Page = z.object({ limit: z.coerce.number().int().min(1).max(100).default(20) })

/**
 * Make an app: one for server.ts, and one for each test.
 */
export function createApp ({ quiet = false } = {}): Kone {
  const app = new Kone({ proxy: Number(process.env.PROXY_HOPS) || false })
  const items = new Map<number, z.infer<typeof Stored>>() // put a database here

  app.on('error', err => { if (!quiet) console.error(err) })
  app.use(health({ checks: { redis: isUp } })) // /healthz and /readyz
  app.use(metrics()) // /metrics: keep it private
  if (!quiet) app.use(logger())
  app.use(problems)
  if (redis) app.use(rateLimit({ db: redis, max: 600, duration: 60_000, ipv6Subnet: 64, throw: true }))
  app.use(bodyParser())

  const router = routes(items)
  app.use(router.routes())
  app.use(router.allowedMethods()) // 405 for a method that no route of the path has
  app.use(openapi(app, { info: { title: 'Items', version: '1.0.0' } })) // /openapi.json

  return app
}

/** One chain, so that its type has every route, for kone/client. */
export function routes (items: Items) {
  return new Router({ prefix: '/items' })
    .get('/', validate({ response: { 200: z.array(Stored) }, query: Page }), ctx => {
      ctx.body = [...items.values()].slice(0, ctx.valid.query.limit)
    })
    .post('/', validate({ response: { 201: Stored }, body: Item }), ctx => {
      const item = { id: items.size + 1, ...ctx.valid.body }
      items.set(item.id, item)
      ctx.status = 201
      ctx.set('Location', `/items/${item.id}`)
      ctx.body = item
    })
    .get('/:id', validate({ response: { 200: Stored }, params: Id }), ctx => {
      const item = items.get(ctx.valid.params.id)
      if (!item) return ctx.throw(404, `there is no item ${ctx.valid.params.id}`)
      ctx.body = item
    })
}

/**
 * Sends every error as a problem document (RFC 9457), as validate does. Errors that the client
 * may not read go only to app.on('error').
 */
async function problems (ctx: Context, next: Next) {
  try {
    await next()
    if (ctx.status >= 400 && !ctx.body) ctx.throw(ctx.status)
  } catch (err) {
    const known = isHttpError(err) && err.expose ? err : null
    if (known === null && ctx.app.env === 'development') throw err // kone dev shows where
    if (known === null) ctx.app.emit('error', err, ctx)
    else if (known.headers) ctx.set(known.headers)
    ctx.status = known?.status ?? 500
    ctx.type = 'application/problem+json'
    ctx.body = JSON.stringify({ title: ctx.message, status: ctx.status, detail: known?.message })
  }
}
