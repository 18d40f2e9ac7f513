'use strict'

// Serves one app, says where, and on request how much CPU it has taken.

const app = require(`./${process.argv[2]}`)

process.on('message', () => process.send(process.cpuUsage()))
process.on('disconnect', () => process.exit())

app.serve().then(server => {
  const listening = () => process.send({ port: server.address().port })
  if (server.listening) listening()
  else server.once('listening', listening)
})
