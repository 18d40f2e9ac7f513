'use strict'

const net = require('node:net')

const AT_ONCE = 64 // connections being made, so that no listen queue overflows
const PER_SOURCE = 5000 // connections from one source address, far below its 28,000 ports
const TRIES = 5 // of one connection to be made
const LATE = 10_000 // ms after the end that an answer may still take

const BUFFER = Buffer.allocUnsafeSlow(65_536) // for all: a read is looked at before the next
const clients = []
let crowd = null // { host, port, request, source }
let answerLength = 0 // bytes, of every answer: they are all the same
let tally = null

process.on('disconnect', () => process.exit())
process.on('message', ({ act, ...what }) => {
  acts[act](what).then(sample => process.send({ sample }), err => process.send({ error: err.message }))
})

const acts = {
  /** Connect until there are so many; `source` is the first part of an address: '127.0.3'. */
  async open ({ host, port, path, source, connections }) {
    crowd = { host, port, source, request: `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n` }
    const missing = connections - clients.length
    let started = 0
    const lane = async () => {
      while (started < missing) {
        started++
        const client = { index: clients.length, socket: null, busy: false, got: 0, asked: 0, answered: null }
        clients.push(client)
        await connect(client)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    return { open: clients.length }
  },

  /** One request on every connection that was never asked, and its answer. */
  async greet () {
    return counted(async () => {
      const fresh = clients.filter(client => !client.greeted)
      let next = 0
      const lane = async () => {
        while (next < fresh.length) {
          const client = fresh[next++]
          client.greeted = true
          await new Promise(resolve => { ask(client, performance.now(), resolve) })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, lane))
    })
  },

  /** Every connection asks again as soon as it has its answer. */
  async closed ({ seconds }) {
    return counted(async begin => {
      const until = begin + seconds * 1000
      await Promise.race([late(seconds), Promise.all(clients.map(client => new Promise(resolve => {
        const again = () => {
          const now = performance.now()
          if (now < until) ask(client, now, again)
          else resolve()
        }
        again()
      })))])
    })
  },

  /** So many requests per second, whatever the answers; each counts from when it was due. */
  async paced ({ rate, seconds }) {
    return counted(async begin => {
      const total = Math.round(rate * seconds)
      const backlog = [] // when they were due, while every connection is busy
      let due = 0
      let answered = 0
      let turn = 0
      let done
      const all = new Promise(resolve => { done = resolve })

      const send = when => {
        for (let i = 0; i < clients.length; i++) {
          const client = clients[turn = (turn + 1) % clients.length]
          if (!client.busy) return ask(client, when, finished)
        }
        backlog.push(when)
      }
      const finished = () => {
        if (++answered === total) done()
        else if (backlog.length) send(backlog.shift())
      }
      const timer = setInterval(() => {
        const now = performance.now()
        for (; due < total && begin + due * 1000 / rate <= now; due++) send(begin + due * 1000 / rate)
        if (due === total) clearInterval(timer)
      }, 1)
      await Promise.race([late(seconds), all])
      clearInterval(timer)
      tally.errors += total - answered
    })
  },

  async reset () {
    for (const { socket } of clients) socket.removeAllListeners('close').resetAndDestroy()
    clients.length = 0
    answerLength = 0
    return {}
  }
}

async function counted (act) {
  tally = { requests: 0, errors: 0, reconnects: 0, bytes: 0, latencies: [] }
  const begin = performance.now()
  await act(begin)
  return { ...tally, seconds: (performance.now() - begin) / 1000 }
}

const late = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000 + LATE).unref())

async function connect (client) {
  for (let tries = 1; ; tries++) {
    try {
      return await connectOnce(client)
    } catch (err) {
      if (tries === TRIES) throw new Error(`${clients.length} connections: ${err.message}`)
      await new Promise(resolve => setTimeout(resolve, 50 * tries))
    }
  }
}

function connectOnce (client) {
  const { host, port, source } = crowd
  return new Promise((resolve, reject) => {
    const socket = client.socket = net.connect({
      host,
      port,
      noDelay: true,
      localAddress: source && `${source}.${1 + Math.floor(client.index / PER_SOURCE)}`,
      onread: { buffer: BUFFER, callback: length => received(client, length) }
    })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {})
      socket.on('end', () => socket.destroy())
      socket.once('close', () => broken(client))
      resolve()
    })
  })
}

// As the report's client did: what breaks is made again. It is an error only if an answer was awaited.
function broken (client) {
  if (tally) tally.reconnects++
  const { busy, answered } = client
  if (busy) tally.errors++
  client.busy = false
  connect(client).then(() => busy && answered(), () => { client.busy = true })
}

function ask (client, when, answered) {
  client.busy = true
  client.got = 0
  client.asked = when
  client.answered = answered
  client.socket.write(crowd.request, 'latin1')
}

function received (client, length) {
  if (client.got === 0 && BUFFER.latin1Slice(9, 12) !== '200') tally.errors++
  answerLength ||= lengthOf(BUFFER.latin1Slice(0, length))
  client.got += length
  tally.bytes += length
  if (client.got < answerLength) return true
  if (client.got > answerLength) tally.errors++
  client.busy = false
  tally.requests++
  tally.latencies.push(performance.now() - client.asked)
  client.answered()
  return true
}

function lengthOf (text) {
  const end = text.indexOf('\r\n\r\n')
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1])
  return end < 0 || Number.isNaN(length) ? 0 : end + 4 + length
}
