'use strict'

// WebSockets in a route, behind the same middleware as pages: who has signed in talks to a channel.
//
//    curl -c cookies localhost:3000/login -d user=Ada
const Kone = require('kone')
const bodyParser = require('kone/middleware/bodyParser')
const Router = require('kone/middleware/router')
const session = require('kone/middleware/session')
const websocket = require('kone/middleware/websocket')

const app = new Kone()
const router = new Router()
const channels = new Map() // name → its sockets

const login = (ctx, next) => ctx.session.user ? next() : ctx.throw(401)

router.post('/login', ctx => {
  const { user } = ctx.request.body
  ctx.assert(typeof user === 'string' && user !== '', 400, 'expected a user') // your app checks a password
  ctx.sessionHandler.regenerateId()
  ctx.session.user = user
  ctx.status = 204
})

router.get('/channels/:channel', login, websocket(async (socket, ctx) => {
  const { channel } = ctx.params
  if (!channels.has(channel)) channels.set(channel, new Set())
  const sockets = channels.get(channel).add(socket)
  try {
    for await (const message of socket) {
      for (const one of sockets) one.send(`${ctx.session.user}: ${message}`) // not awaited: nobody waits for a slow reader
    }
  } finally {
    sockets.delete(socket)
    if (sockets.size === 0) channels.delete(channel)
  }
}, { maxConnections: 10_000 }))

app.use(session())
app.use(bodyParser())
app.use(router.routes())

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => app.close()) // 1001 for every socket, and its handler ends
