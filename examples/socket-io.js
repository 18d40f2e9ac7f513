'use strict'

// socket.io on the server of app.listen().
const Kone = require('kone')
const { Server } = require('socket.io')

const app = new Kone()
app.use(ctx => { ctx.body = 'Connect a socket.io client to this port' })

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`http://localhost:${server.address().port}`)
})

new Server(server).on('connection', socket => {
  socket.on('say', (text, reply) => reply(`echo: ${text}`))
})
