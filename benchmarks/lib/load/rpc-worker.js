'use strict'

const diagnostics = require('node:diagnostics_channel')
const { setTimeout: sleep } = require('node:timers/promises')
const { isDeepStrictEqual } = require('node:util')
const { quantile } = require('../run/stats')
const { sample } = require('./client')
const serve = require('./messages')
const clients = require('../../labs/rpc/clients')

// Every socket that any of the clients opens: what is on the wire is counted there.
const sockets = new Set()
diagnostics.subscribe('net.client.socket', ({ socket }) => sockets.add(socket))

serve(load => load.isSingle ? callSingle(load) : shoot(load))

async function callSingle (load) {
  const client = await clients[load.protocol](load)
  try {
    return { value: await outcome(client, load) }
  } finally {
    client.close()
  }
}

async function shoot (load) {
  const { protocol, connections, pipeline = 1, seconds, expected } = load
  sockets.clear()
  const open = await Promise.all(Array.from({ length: connections }, () => clients[protocol](load)))
  const opening = wire()

  const latencies = []
  let asked = 0
  let errors = 0
  const end = new AbortController()
  async function loop (client) {
    while (!end.signal.aborted) {
      asked++
      const start = performance.now()
      const value = await outcome(client, load)
      const took = performance.now() - start
      if (end.signal.aborted) return // its response came after the end
      if (isDeepStrictEqual(value, expected)) latencies.push(took)
      else errors++
      if (value.gone) return
    }
  }
  const begin = performance.now()
  const loops = open.flatMap(client => Array.from({ length: pipeline }, () => loop(client)))
  await sleep(seconds * 1000)
  end.abort()
  const took = (performance.now() - begin) / 1000
  const { sent, received } = wire()
  for (const client of open) client.close()
  await Promise.race([Promise.all(loops), sleep(1000)])

  const requests = latencies.length
  const mean = latencies.reduce((sum, ms) => sum + ms, 0) / requests
  const max = latencies.reduce((most, ms) => Math.max(most, ms), 0)
  return {
    ...sample({ requests, seconds: took, bytes: received - opening.received, errors, mean, max }),
    wire: (sent - opening.sent) / asked + (received - opening.received) / (requests + errors),
    ...requests > 0 && { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
  }
}

// What a call comes to: its value, or its error, which is what asyncError must come to.
async function outcome (client, { method, args }) {
  try {
    return { value: await client.call(method, args) }
  } catch (err) {
    return { error: err.message, ...err.gone && { gone: true } }
  }
}

function wire () {
  let sent = 0
  let received = 0
  for (const { bytesWritten, bytesRead } of sockets) {
    sent += bytesWritten
    received += bytesRead
  }
  return { sent, received }
}
