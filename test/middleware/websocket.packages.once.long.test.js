'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { after, describe, it } = require('node:test')
const { WebSocket, WebSocketServer } = require('ws')
const Kone = require('kone')
const Router = require('kone/middleware/router')
const websocket = require('kone/middleware/websocket')
const { install } = require('../helpers/area')
const seeing = require('../helpers/seeing')

/*
 * websocket() beside packages that take handshakes in their own way, unchanged. ws and socket.io are in
 * test/middleware/websocket.beside.test.js.
 */

const { require: area } = install('packages')
const SERVERS = {
  'app.listen()': app => app.listen(0),
  'app.attach()': app => app.attach(http.createServer()).listen(0),
  'app.callback()': app => http.createServer(app.callback()).listen(0)
}

for (const [name, serve] of Object.entries(SERVERS)) {
  describe(`websocket() on a server of ${name}`, () => {
    const closing = []
    after(() => Promise.all(closing.map(close => close())))

    /** @param {Function} more gets the app behind its route */
    const start = async (more = () => {}, from = serve) => {
      const app = seeing(new Kone())
      app.use(new Router().get('/kone', websocket(async socket => { for await (const message of socket) await socket.send(`kone ${message}`) })).routes())
      more(app)
      const server = from(app)
      closing.push(() => {
        server.close()
        server.closeAllConnections()
      })
      if (!server.listening) await once(server, 'listening')
      return { app, server, port: server.address().port }
    }
    const ask = async (port, path, protocols) => {
      const client = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols)
      closing.push(() => client.terminate())
      const message = once(client, 'message')
      await once(client, 'open')
      client.send('hi')
      return String((await message)[0])
    }

    it('should run beside the HMR of Vite in middleware mode, which decides by subprotocol, and graphql-ws', async () => {
      const { app, server, port } = await start()
      const { createServer } = await import(install('../docs').require.resolve('vite').replace('index.cjs', 'dist/node/index.js'))
      const vite = await createServer({
        root: __dirname,
        configFile: false,
        logLevel: 'silent',
        appType: 'custom',
        optimizeDeps: { noDiscovery: true },
        server: { middlewareMode: true, hmr: { server }, watch: null }
      })
      closing.push(() => vite.close())
      const { buildSchema } = area('graphql')
      const { createClient } = area('graphql-ws')
      const wss = new WebSocketServer({ noServer: true })
      const roots = { subscription: { async * n () { yield { n: 1 }; yield { n: 2 } } } }
      area('graphql-ws/use/ws').useServer({ schema: buildSchema('type Query { a: Int } type Subscription { n: Int }'), roots }, wss)
      server.on('upgrade', (req, socket, head) => {
        if (req.url === '/graphql') wss.handleUpgrade(req, socket, head, one => wss.emit('connection', one, req))
      })

      assert.equal(await ask(port, '/kone'), 'kone hi') // the first handshake
      const client = createClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket })
      const got = []
      await new Promise((resolve, reject) => {
        client.subscribe({ query: 'subscription { n }' }, { next: ({ data }) => got.push(data.n), error: reject, complete: resolve })
      })
      await client.dispose()
      assert.deepEqual(got, [1, 2])
      assert.equal(await ask(port, '/', 'vite-hmr'), '{"type":"connected"}')
      assert.deepEqual(app.seen, ['/kone'])
    })

    it('should run beside koa-easy-ws', async () => {
      const { port } = await start(app => {
        app.use(area('koa-easy-ws')())
        app.use(async ctx => {
          const socket = await ctx.ws()
          socket.on('message', message => socket.send(`easy ${message}`))
        })
      })
      for (const path of ['kone', 'easy', 'kone', 'easy']) assert.equal(await ask(port, `/${path}`), `${path} hi`)
    })
  })
}

describe('websocket() and koa-websocket', () => {
  it('should run in one app, whose listen() it has replaced', async () => {
    const app = require('koa-websocket')(new Kone())
    app.use(new Router().get('/kone', websocket(async socket => { for await (const message of socket) await socket.send(`kone ${message}`) })).routes())
    app.ws.use(ctx => { ctx.websocket.on('message', message => ctx.websocket.send(`other ${message}`)) })
    const server = app.listen(0)
    await once(server, 'listening')
    for (const path of ['kone', 'other', 'kone']) {
      const client = new WebSocket(`ws://127.0.0.1:${server.address().port}/${path}`)
      client.on('open', () => client.send('hi'))
      assert.equal(String((await once(client, 'message'))[0]), `${path} hi`)
      client.terminate()
    }
    app.ws.server.close()
    await app.close({ grace: 0 })
  })
})
