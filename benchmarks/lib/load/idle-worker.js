'use strict'

const net = require('node:net')

const AT_ONCE = 64 // connections being made, so that no listen queue overflows

process.on('disconnect', () => process.exit())
process.on('message', ({ port, connections }) => {
  const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  let started = 0
  let open = 0

  for (let i = 0; i < AT_ONCE; i++) next()

  function next () {
    if (started === connections) return
    started++
    const socket = net.connect({ port, host: '127.0.0.1' }, () => socket.write(request))
    socket.once('data', () => {
      if (++open === connections) process.send({ sample: { open } })
      next()
    })
    socket.once('error', err => process.send({ error: `${open} of ${connections} connections: ${err.message}` }))
  }
})
