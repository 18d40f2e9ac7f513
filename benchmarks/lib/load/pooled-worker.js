'use strict'

const net = require('node:net')

const AT_ONCE = 64 // connections being made, so that no listen queue overflows
const LATE = 30_000 // ms after the end that an answer may still take

const pools = new Map() // by port and number of connections

process.on('disconnect', () => process.exit())
process.on('message', load => {
  shoot(load).then(sample => process.send({ sample }), err => process.send({ error: err.message }))
})

async function shoot ({ port, method = 'GET', path = '/', headers = {}, size = 0, connections, seconds }) {
  const fields = { Host: `127.0.0.1:${port}`, ...headers }
  if (size) Object.assign(fields, { 'Content-Type': 'application/octet-stream', 'Content-Length': size })
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  // A small body goes out with its head, a large one is never copied.
  const request = size ? (size < 65_536 ? [Buffer.concat([head, Buffer.alloc(size, 'x')])] : [head, Buffer.alloc(size, 'x')]) : [head]

  const key = `${port} ${connections}`
  const pool = await filled(pools.get(key) ?? [], port, connections)
  pools.set(key, pool)

  const tally = { requests: 0, errors: 0, bytes: 0, latency: 0, longest: 0 }
  const begin = performance.now()
  const until = begin + seconds * 1000
  let timer
  const late = new Promise(resolve => { timer = setTimeout(resolve, seconds * 1000 + LATE) })
  await Promise.race([late, Promise.all(pool.map(client => client.ask(request, until, tally)))])
  clearTimeout(timer)
  const took = (performance.now() - begin) / 1000

  const { requests, errors, bytes, latency, longest } = tally
  return {
    requests,
    seconds: took,
    bytes,
    errors,
    requestsPerSecond: requests / took,
    latencyMeanMs: latency / requests,
    latency: { average: latency / requests, max: longest }
  }
}

async function filled (pool, port, connections) {
  const open = pool.filter(client => !client.isGone)
  while (open.length < connections) {
    const more = Math.min(AT_ONCE, connections - open.length)
    open.push(...await Promise.all(Array.from({ length: more }, () => connect(port))))
  }
  return open
}

function connect (port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(new Client(socket)))
    socket.once('error', reject)
  })
}

/** One connection: asks again and again, and counts the bytes of an answer rather than keep them. */
class Client {
  constructor (socket) {
    this.socket = socket
    this.isGone = false
    this.head = ''
    this.missing = -1 // bytes of the body still to come; -1 in the head
    this.answered = null
    socket.on('data', chunk => this.take(chunk))
    socket.on('close', () => {
      this.isGone = true
      this.answered?.(false)
    })
  }

  async ask (request, until, tally) {
    do {
      const asked = performance.now()
      const answer = new Promise(resolve => { this.answered = resolve })
      if (this.isGone) this.answered(false)
      else for (const part of request) this.socket.write(part)
      const isGood = await answer
      const took = performance.now() - asked
      if (isGood) {
        tally.requests++
        tally.bytes += this.size
        tally.latency += took
        tally.longest = Math.max(tally.longest, took)
      } else {
        tally.errors++
      }
    } while (performance.now() < until && !this.isGone)
  }

  take (chunk) {
    if (this.missing < 0) {
      this.head += chunk.latin1Slice()
      const end = this.head.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.head)?.[1])
      this.size = end + 4 + length
      this.missing = this.size - this.head.length
    } else {
      this.missing -= chunk.length
    }
    if (this.missing > 0) return
    const isGood = this.missing === 0 && this.head.startsWith('HTTP/1.1 200 ')
    this.head = ''
    this.missing = -1
    this.answered(isGood)
  }
}
