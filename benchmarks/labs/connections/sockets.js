'use strict'

const http = require('node:http')
const kone = require('../../lib/servers/kone')

const LAYERS = 5
const through = add => { for (let i = 0; i < LAYERS; i++) add((ctx, next) => next()) }
const echo = socket => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))

function konesWith (handler) {
  const app = new (kone('.'))()
  through(layer => app.use(layer))
  return app.use(kone('middleware/websocket')(handler))
}

async function fastify (port, host, backlog) {
  const app = require('fastify')()
  await app.register(require('@fastify/websocket'))
  await app.register(async scope => {
    for (let i = 0; i < LAYERS; i++) scope.addHook('onRequest', async () => {})
    scope.get('/', { websocket: true }, echo)
  })
  await app.listen({ port, host, backlog })
  return app.server
}

/* Servers that send back what a WebSocket sends, behind five middleware but for ws alone. */
module.exports = {
  'kone-loop': { package: 'kone', start: () => konesWith(async socket => { for await (const message of socket) await socket.send(message) }) },
  'kone-events': { package: 'kone', start: () => konesWith(echo) },
  ws: {
    package: 'ws',
    start () {
      const server = http.createServer()
      new (require('ws').WebSocketServer)({ server, clientTracking: false }).on('connection', echo)
      return server
    }
  },
  'koa-websocket': {
    package: 'koa-websocket',
    start () {
      const app = require('koa-websocket')(new (require('koa'))())
      through(layer => app.ws.use(layer))
      app.ws.use(({ websocket }) => { echo(websocket) })
      return app
    }
  },
  'fastify-websocket': { package: '@fastify/websocket', start: () => fastify }
}
