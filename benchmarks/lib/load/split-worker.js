'use strict'

const net = require('node:net')

const PAUSE = 2 // ms between head and body, far above a server's reaction

process.on('disconnect', () => process.exit())
process.on('message', load => shoot(load).then(sample => process.send({ sample })))

async function shoot ({ port, method = 'POST', path = '/', headers = {}, body, connections, seconds }) {
  const fields = { Host: `127.0.0.1:${port}`, ...headers, 'Content-Length': Buffer.byteLength(body) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
  const tally = { requests: 0, errors: 0, bytes: 0, latencies: [] }
  const waiting = [] // clients whose body is still to go, oldest first

  const begin = performance.now()
  const clients = Array.from({ length: connections }, () => connect())
  const timer = setInterval(() => {
    const now = performance.now()
    while (waiting.length && now - waiting[0].asked >= PAUSE) waiting.shift().socket.write(body)
  }, 1)
  await new Promise(resolve => setTimeout(resolve, seconds * 1000))
  clearInterval(timer)
  const took = (performance.now() - begin) / 1000
  for (const { socket } of clients) socket.removeAllListeners().on('error', () => {}).destroy()

  return sample(tally, took)

  function connect () {
    const client = { socket: net.connect({ port, host: '127.0.0.1', noDelay: true }), asked: 0, got: '' }
    client.socket.setEncoding('latin1')
    client.socket.once('connect', () => ask(client))
    client.socket.on('data', chunk => answered(client, chunk))
    client.socket.on('error', () => {})
    client.socket.on('close', () => { tally.errors++ })
    return client
  }

  function ask (client) {
    client.asked = performance.now()
    client.socket.write(head)
    waiting.push(client)
  }

  function answered (client, chunk) {
    client.got += chunk
    tally.bytes += chunk.length
    const end = client.got.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(client.got)?.[1])
    if (client.got.length < end + 4 + length) return

    if (client.got.startsWith('HTTP/1.1 200 ') && client.got.length === end + 4 + length) tally.requests++
    else tally.errors++
    tally.latencies.push(performance.now() - client.asked)
    client.got = ''
    ask(client)
  }
}

function sample ({ requests, errors, bytes, latencies }, seconds) {
  const mean = latencies.reduce((sum, ms) => sum + ms, 0) / latencies.length
  return {
    requests,
    seconds,
    bytes,
    errors,
    requestsPerSecond: requests / seconds,
    latencyMeanMs: mean,
    latency: { average: mean, max: Math.max(...latencies) }
  }
}
