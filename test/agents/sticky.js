'use strict'

/*
 * A cluster with @socket.io/sticky, as its README has it: the primary reads the first bytes of each connection, picks a
 * worker, and sends it the connection and these bytes. `test/agents/sticky.long.test.js` starts it.
 */

const cluster = require('node:cluster')
const http = require('node:http')
const { Server } = require('socket.io')

const { install } = require('../helpers/area')
const { setupPrimary, setupWorker } = install('agents').require('@socket.io/sticky')

const [, , name, primary] = process.argv
const Framework = name === 'koa' ? require('koa') : require('../helpers/kone')

if (cluster.isPrimary) {
  const server = http.createServer()
  if (primary === 'kone') new Framework().attach(server)
  setupPrimary(server, { loadBalancingMethod: 'round-robin' })
  cluster.setupPrimary({ serialization: 'advanced' }) // Buffers are sent
  let ready = 0
  cluster.on('message', (worker, message) => {
    if (message !== 'ready' || ++ready < 2) return
    server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  })
  for (let i = 0; i < 2; i++) cluster.fork()
  process.on('disconnect', () => process.exit())
} else {
  const app = new Framework()
  app.silent = true
  app.use(async ctx => {
    const chunks = []
    for await (const chunk of ctx.req) chunks.push(chunk)
    ctx.body = `${ctx.method} ${ctx.url} ${Buffer.concat(chunks)}`
  })
  const server = http.createServer()
  if (name === 'koa') server.on('request', app.callback())
  else app.attach(server)
  const io = new Server(server)
  io.on('connection', socket => socket.on('ask', (what, answer) => answer(`${what}!`)))
  setupWorker(io)
  process.send('ready')
}
