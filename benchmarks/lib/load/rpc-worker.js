'use strict'

const diagnostics = require('node:diagnostics_channel')
const { setTimeout: sleep } = require('node:timers/promises')
const { isDeepStrictEqual } = require('node:util')
const { Client, bytes } = require('../../../command/measure/client')
const { Tally, merge } = require('./sample')
const { serve } = require('./worker')

const LATE = 10_000 // ms that the first response may take

// Every socket that any of the clients opens: what is on the wire is counted there.
const sockets = new Set()
diagnostics.subscribe('net.client.socket', ({ socket }) => sockets.add(socket))

serve(shoot)

async function shoot (load) {
  const { client, connections, pipeline = 1, seconds, expected, late = LATE } = load
  const open = client ? require(client.file)[client.key].open : overHTTP
  sockets.clear()
  const clients = await Promise.all(Array.from({ length: connections }, () => open(load)))
  const close = () => clients.forEach(client => client.close())
  const first = await Promise.race([outcome(clients[0]), sleep(late, { error: `no response within ${late / 1000} s` })])
  if (!isExpected(first, expected)) {
    close()
    throw new Error(`its response is ${JSON.stringify(first)}, not ${JSON.stringify(expected)}`)
  }
  const opening = onWire()

  const tally = new Tally()
  let asked = 0
  const end = new AbortController()
  async function loop (client) {
    while (!end.signal.aborted) {
      asked++
      const start = performance.now()
      const response = await outcome(client)
      const took = performance.now() - start
      if (end.signal.aborted) return // its response came after the end
      tally.add(isExpected(response, expected), 0, took)
      if (response.gone) return
    }
  }
  const begin = performance.now()
  const loops = clients.flatMap(client => Array.from({ length: pipeline }, () => loop(client)))
  await sleep(seconds * 1000)
  end.abort()
  const took = (performance.now() - begin) / 1000
  const { sent, received } = onWire()
  close()
  await Promise.race([Promise.all(loops), sleep(1000)])

  const bytes = received - opening.received
  const wire = (sent - opening.sent) / asked + bytes / (tally.requests + tally.errors)
  return { ...merge([{ ...tally, seconds: took, bytes }]), wire }
}

// The same POST again and again; a call gives the status and the body, in latin1.
async function overHTTP ({ port, path, type, body }) {
  const request = bytes({ port, method: 'POST', path, headers: { 'Content-Type': type }, body })
  const client = await new Client({ port }, { keepsBody: true }).open()
  const call = () => new Promise((resolve, reject) => client.request(request, () => {
    if (client.status) resolve(`${client.status} ${client.body}`)
    else reject(Object.assign(new Error('the connection was closed'), { gone: true }))
  }))
  return { call, close: () => client.destroy() }
}

// What a call comes to: its value, or its error.
async function outcome (client) {
  try {
    return { value: await client.call() }
  } catch (err) {
    return { error: err.message, ...err.gone && { gone: true } }
  }
}

// Clients write other words before the message of an error.
const isExpected = (response, { value, error }) =>
  error ? response.error?.endsWith(error) ?? false : isDeepStrictEqual(response.value, value)

function onWire () {
  let sent = 0
  let received = 0
  for (const { bytesWritten, bytesRead } of sockets) {
    sent += bytesWritten
    received += bytesRead
  }
  return { sent, received }
}
