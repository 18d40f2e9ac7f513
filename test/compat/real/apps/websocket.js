'use strict'

module.exports = {
  title: 'koa-websocket beside HTTP',
  packages: { 'koa-websocket': '7.0.0', 'koa-route': '4.0.1' },
  responses: 4,

  async serve () {
    const Koa = require('koa')
    const route = require('koa-route')
    const websockify = require('koa-websocket')

    const app = websockify(new Koa())
    app.use(ctx => { ctx.body = `${ctx.method} ${ctx.path}` })
    app.ws.use(async (ctx, next) => {
      ctx.state.user = ctx.query.user
      await next()
    })
    app.ws.use(route.all('/echo/:room', (ctx, room) => {
      ctx.websocket.send(JSON.stringify({ room, user: ctx.state.user, path: ctx.path, host: Boolean(ctx.host) }))
      ctx.websocket.on('message', data => ctx.websocket.send(`${room}: ${data}`))
    }))
    return app.listen(0)
  },

  async ask (client) {
    await client.ask('GET /')
    for (const messages of [['hello', 'héllo ☃'], ['x'.repeat(100000)]]) {
      client.note({ messages: await talk(`ws://127.0.0.1:${client.port}/echo/1?user=ada`, messages) })
    }
    await client.ask('GET /after')
  },

  load: { line: 'GET /' }
}

// Sends each when the one before gets a response; → what came back and how it was closed.
async function talk (url, messages) {
  const { WebSocket } = require('ws')
  const { once } = require('node:events')
  const socket = new WebSocket(url)
  const answers = []
  for (const message of messages) {
    const [data] = await once(socket, 'message')
    answers.push(String(data))
    socket.send(message)
  }
  answers.push(String((await once(socket, 'message'))[0]))
  socket.close(1000, 'bye')
  const [code] = await once(socket, 'close')
  return { answers, code }
}
