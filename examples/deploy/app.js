'use strict'

/**
 * Notes for users who are signed in. The process stores nothing: sessions, csrf secrets, rate limits and
 * notes are in Redis, so that every worker of every host can serve every user.
 *
 *    REDIS_URL=redis://127.0.0.1:6379 npx kone start app.js
 */

const { hostname } = require('node:os')
const Redis = require('ioredis')
const Kone = require('kone')
const mw = require('kone/middleware')
const Router = require('kone/middleware/router')

const redis = client(process.env.REDIS_URL || 'redis://127.0.0.1:6379')
const app = new Kone({ proxy: 1 }) // one proxy, nginx, is before this app
const router = new Router()
const host = process.env.HOST_NAME || hostname()
const port = process.env.PORT || 4000

app.use(mw.health({ checks: { Redis: () => redis.ping() } }))
app.use(mw.requestId())
app.use(mw.session({ store: mw.session.redis(redis) }))
app.use(mw.bodyParser())
app.use(mw.csrf())
app.use(mw.sse({ heartbeat: 10000 }))
app.use(router.routes())
app.use(router.allowedMethods())

router.post('/sign-in', mw.rateLimit({ driver: 'redis', db: redis, max: 60, duration: 60000 }), ctx => {
  const { name } = ctx.request.body
  if (typeof name !== 'string' || !/^\w{1,32}$/.test(name)) ctx.throw(400, 'name: 1 to 32 letters')
  ctx.sessionHandler.regenerateId()
  ctx.session.user = name
  ctx.body = { user: name }
})

router.get('/me', ctx => {
  const { user = null } = ctx.session
  const { ip, origin, socket } = ctx
  ctx.body = { user, csrf: ctx.state._csrf, host, ip, origin, peer: socket.remotePort }
})

router.get('/notes', signedIn, async ctx => { ctx.body = await redis.lrange(keyOf(ctx), 0, -1) })

router.post('/notes', signedIn, async ctx => {
  const { text } = ctx.request.body
  if (typeof text !== 'string' || text === '' || text.length > 500) ctx.throw(400, 'text: 1 to 500 characters')
  await redis.rpush(keyOf(ctx), text)
  ctx.status = 201 // sent only after Redis has stored the note
  ctx.body = { text, host }
})

router.get('/events', ctx => {
  const stream = ctx.sse()
  const tick = () => stream.send({ event: 'tick', data: { host, now: new Date().toISOString() } })
  const timer = setInterval(tick, 1000)
  stream.on('close', () => clearInterval(timer))
  tick()
})

function client (url) {
  try {
    // ioredis would take http://… for the path of a socket, and ignore a database that is not a number
    if (!/^rediss?:\/\/[^/?]+(\/\d*)?(\?.*)?$/.test(url)) throw new Error('not of this form')
    return new Redis(url, {
      lazyConnect: true,
      maxRetriesPerRequest: 0, // fail at once, and never repeat a write that Redis may have done
      connectTimeout: 2000,
      socketTimeout: 2000, // replace a connection whose other end is unreachable
      retryStrategy: times => Math.min(times * 50, 500)
    })
  } catch (err) { // the message does not show the URL, which may have a password
    return stop(`REDIS_URL must be redis://user:password@host:port/db: ${err.message}`)
  }
}

function signedIn (ctx, next) {
  if (!ctx.session.user) ctx.throw(401, 'Sign in first')
  return next()
}

function keyOf (ctx) {
  return `notes:${ctx.session.user}`
}

let reason
redis.on('error', err => { reason = err.message }) // later, requests and /readyz report it
redis.connect().catch(err => { reason ||= err.message }).then(() => {
  if (reason) return stop(`cannot reach Redis: ${reason}`)
  app.listen(port).on('error', err => stop(`cannot listen on port ${port}: ${err.message}`))
})

function stop (message) {
  console.error(message)
  process.exit(1)
}
