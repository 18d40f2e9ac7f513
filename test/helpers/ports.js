'use strict'

const { randomInt } = require('node:crypto')
const { once } = require('node:events')
const net = require('node:net')

// Below what systems hand out for `listen(0)` and to clients (Linux from 32,768 on, others higher): nobody is given
// such a port between the moment when it is found free and its use.
const FIRST = 10_081 // fetch refuses 10,080, as it does lower ones (https://fetch.spec.whatwg.org/#port-blocking)
const LAST = 32_767

const ATTEMPTS = 5

/** A port for a program that cannot listen on port 0, because somebody else must know it. Better `onFreePort`. */
async function freePort () {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1)
    const server = net.createServer()
    try {
      await once(server.listen({ port, exclusive: true }), 'listening')
    } catch (err) {
      if (err.code === 'EADDRINUSE' || err.code === 'EACCES') continue
      throw err
    }
    server.close()
    await once(server, 'close')
    return port
  }
}

/**
 * Start something on a free port, and on another one when that was taken meanwhile.
 *
 *    const child = await onFreePort(port => start(['app.js'], { PORT: port }))
 */
async function onFreePort (start) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort())
    } catch (err) {
      if (attempt === ATTEMPTS || !isTaken(err)) throw err
    }
  }
}

function isTaken ({ code, message }) {
  return code === 'EADDRINUSE' || /EADDRINUSE|address already in use|port \d+ is in use/i.test(message)
}

/**
 * A port that refuses connections for as long as a test runs: it is the client's end of another connection, so nobody
 * is given it.
 */
async function closedPort (t) {
  const server = net.createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect(server.address().port, '127.0.0.1')
  await once(socket, 'connect')
  t.after(() => {
    socket.destroy()
    server.close()
  })
  return socket.localPort
}

module.exports = { closedPort, freePort, isTaken, onFreePort }
