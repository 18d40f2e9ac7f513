'use strict'

const diagnostics = require('node:diagnostics_channel')
const { setTimeout: sleep } = require('node:timers/promises')
const { isDeepStrictEqual } = require('node:util')
const { Tally, merge } = require('./sample')
const { serve } = require('./worker')
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
  const opening = onWire()

  const tally = new Tally()
  let asked = 0
  const end = new AbortController()
  async function loop (client) {
    while (!end.signal.aborted) {
      asked++
      const start = performance.now()
      const value = await outcome(client, load)
      const took = performance.now() - start
      if (end.signal.aborted) return // its response came after the end
      tally.add(isDeepStrictEqual(value, expected), 0, took)
      if (value.gone) return
    }
  }
  const begin = performance.now()
  const loops = open.flatMap(client => Array.from({ length: pipeline }, () => loop(client)))
  await sleep(seconds * 1000)
  end.abort()
  const took = (performance.now() - begin) / 1000
  const { sent, received } = onWire()
  for (const client of open) client.close()
  await Promise.race([Promise.all(loops), sleep(1000)])

  const bytes = received - opening.received
  const wire = (sent - opening.sent) / asked + bytes / (tally.requests + tally.errors)
  return { ...merge([{ ...tally, seconds: took, bytes }]), wire }
}

// What a call comes to: its value, or its error, which is what asyncError must come to.
async function outcome (client, { method, args }) {
  try {
    return { value: await client.call(method, args) }
  } catch (err) {
    return { error: err.message, ...err.gone && { gone: true } }
  }
}

function onWire () {
  let sent = 0
  let received = 0
  for (const { bytesWritten, bytesRead } of sockets) {
    sent += bytesWritten
    received += bytesRead
  }
  return { sent, received }
}
