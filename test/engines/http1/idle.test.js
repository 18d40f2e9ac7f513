'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')

const Kone = require('../../helpers/kone')
const { get, hello } = require('./sides')

const front = server => server[Symbol.for('kone.front')]
const request = get('/')

async function serve (t, options) {
  const app = new Kone()
  hello(app)
  const server = app.listen(0, '127.0.0.1')
  Object.assign(server, options)
  t.after(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  return server
}

async function connect (t, server, count) {
  const sockets = Array.from({ length: count }, () => net.connect(server.address().port, '127.0.0.1'))
  t.after(() => { for (const socket of sockets) socket.destroy() })
  for (const socket of sockets) {
    socket.write(request)
    await once(socket, 'data')
  }
  return sockets
}

// µs of CPU of so many ticks, the least of five runs
function cost (clock, ticks = 20_000) {
  const runs = Array.from({ length: 5 }, () => {
    const begin = process.cpuUsage()
    for (let i = 0; i < ticks; i++) {
      clock.tick()
      clearTimeout(clock.timer)
    }
    const { user, system } = process.cpuUsage(begin)
    return user + system
  })
  return Math.min(...runs)
}

describe('idle connections', () => {
  it('should cost the same at each tick of the clock, however many there are', async t => {
    const ticks = []
    for (const count of [5, 100]) {
      const server = await serve(t, { keepAliveTimeout: 60_000 })
      await connect(t, server, count)
      const { clock } = front(server)
      clock.tick()
      ticks.push(cost(clock))
    }
    const [few, many] = ticks
    assert.ok(many < 3 * few, `${few} µs with 5 connections, ${many} with 100`)
  })

  it('should be closed each at its time, those that send in between later', async t => {
    const server = await serve(t, { keepAliveTimeout: 1000, keepAliveTimeoutBuffer: 0 })
    const sockets = await connect(t, server, 3)
    const closed = []
    for (const [i, socket] of sockets.entries()) socket.on('close', () => closed.push(i))
    const busy = sockets[1]
    while (closed.length < 2) {
      busy.write(request)
      await sleep(50)
    }
    assert.deepEqual(closed.toSorted(), [0, 2])
    await once(busy, 'close')
  })

  it('should be forgotten when they are gone', async t => {
    const server = await serve(t, { keepAliveTimeout: 60_000 })
    const sockets = await connect(t, server, 3)
    const { clock, connections } = front(server)
    clock.tick()
    for (const socket of sockets) socket.end()
    while (connections.size > 0) await sleep(5)
    assert.equal(clock.idle.size, 0)
  })
})
