'use strict'

// WebSockets by the package ws, on the server of app.listen(). In routes and behind middleware: chat.js.
const Kone = require('kone')
const { WebSocketServer } = require('ws')

const app = new Kone()
app.use(ctx => { ctx.body = 'Connect a WebSocket to this port' })

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`http://localhost:${server.address().port}`)
})

new WebSocketServer({ server }).on('connection', socket => {
  socket.on('message', message => socket.send(`echo: ${message}`))
})
