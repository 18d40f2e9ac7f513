'use strict'

const { afterEach, describe } = require('node:test')
const { once } = require('node:events')
const net = require('node:net')

const { sides, waitFor, withAsk } = require('./sides')

/** `sides()` with a third one: the front, whose `ctx.req` and `ctx.res` every request touches. */
function wire (title, define) {
  sides(title, suite => {
    afterEach(hangUp)
    define(suite)
    if (suite.side !== 'front') return
    describe('ctx.res touched', () => {
      const serve = (setup, options) => suite.serve(touched(setup), options)
      define(withAsk({ side: 'front, ctx.res touched', it: suite.it, serve }))
    })
  })
}

// A paused client does not notice that its connection is gone, and would keep the process alive.
const clients = new Set()

function hangUp () {
  for (const socket of clients) socket.destroy()
  clients.clear()
}

/** The same for the front alone: what it must do whatever node:http does. */
function front (title, define) {
  wire(title, suite => {
    if (suite.side !== 'node:http') define(suite)
  })
}

function touched (setup) {
  return app => {
    app.use(function touch (ctx, next) {
      if (!ctx.req || !ctx.res) throw new Error('ctx.req and ctx.res are always there')
      return next()
    })
    setup(app)
  }
}

/** A client that counts the bytes of responses instead of keeping them, and reads only after `client.resume()`. */
async function download (port, bytes) {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  clients.add(socket)
  const client = {
    socket,
    first: '',  // the first bytes, as latin1
    last: '',   // the last ones
    size: 0,
    ended: false,
    write: more => socket.write(more, 'latin1'),
    resume: () => socket.resume(),
    destroy: () => socket.destroy(),
    reset: () => socket.resetAndDestroy(),
    received: (size, ms = 60000) => waitFor(() => client.size >= size || client.ended, () => `${size} bytes`, ms),
    end: (ms = 60000) => waitFor(() => client.ended, () => `the end behind ${client.size} bytes`, ms)
  }
  socket.on('data', chunk => {
    client.size += chunk.length
    if (client.first.length < 1000) client.first += chunk.toString('latin1', 0, 1000)
    client.last = (client.last + chunk.toString('latin1', Math.max(0, chunk.length - 1000))).slice(-1000)
  })
  const ended = () => {
    client.ended = true
    socket.end()
  }
  socket.on('end', ended).on('close', ended).on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  client.write(bytes)
  return client
}

module.exports = { download, front, wire }
