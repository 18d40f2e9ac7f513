'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const { Client, bytes } = require('../../../command/measure/client')
const { Tally, merge } = require('./sample')
const { serve } = require('./worker')

const AT_ONCE = 64 // connections being made, so that no listen queue overflows
const PER_SOURCE = 5000 // connections from one source address, far below its 28,000 ports
const TRIES = 5 // of one connection to be made
const STALL = 5_000 // ms without a new connection, after which those that are late are not tried again
const LATE = 10_000 // ms that a response may still take after the end
const PAUSE = 2 // ms between two pieces of a request, far above a server's reaction

const slots = [] // each holds one connection, and the next one when it breaks
let crowd = null // { port, source, request, message }
let tally = null
let accepted = 0 // when the last connection was made

serve(({ act, ...load }) => acts[act](load))

const acts = {
  /**
   * Connect until there are so many; `source` is the first part of an address: '127.0.3'. With a `message`, { text, size },
   * the first request is a handshake, and the others are this text, whose response has this size.
   */
  async open ({ source, connections, message, ...load }) {
    crowd = { port: load.port, source, request: bytes(load), message }
    const missing = connections - slots.length
    let started = 0
    await inLanes(async () => {
      if (started++ >= missing) return false
      const slot = { crowd, index: slots.length, client: null, greeted: false, isBusy: false }
      slots.push(slot)
      await connect(slot)
      return true
    })
    return { open: slots.length }
  },

  /** One request, and its response, on every connection that has sent none. */
  greet () {
    return counted(async () => {
      const fresh = slots.filter(slot => !slot.greeted)
      await inLanes(async () => {
        const slot = fresh.shift()
        if (!slot) return false
        slot.greeted = true
        await firstResponse(slot)
        return true
      })
    })
  },

  /** Every connection sends its next request as soon as it has a response. */
  closed ({ seconds }) {
    return counted(async begin => {
      const until = begin + seconds * 1000
      const loops = slots.map(slot => new Promise(resolve => {
        (function next () {
          const now = performance.now()
          if (now < until) request(slot, now, next)
          else resolve()
        })()
      }))
      await Promise.race([late(seconds), Promise.all(loops)])
    })
  },

  /** So many requests per second, however fast the responses; latency counts from when each was due. */
  paced: ({ rate, seconds }) => openLoop({ rate, seconds, gap: () => 1, again: act => setTimeout(act, 1) }),

  /** The same with the gaps of independent clients. It never sleeps, so that a request is sent when it is due. */
  arrivals: ({ rate, seconds }) => openLoop({ rate, seconds, gap: () => -Math.log(1 - Math.random()), again: setImmediate }),

  async reset () {
    for (const { client } of slots) client.destroy({ reset: true })
    slots.length = 0
    return {}
  },

  /**
   * A closed loop over new connections: headers and body come in so many `pieces`, each in a write of its own, and a
   * connection is closed after `each` responses.
   */
  async split ({ connections, seconds, pieces = 2, each = Infinity, body = '', size = 0, ...load }) {
    await acts.open({ connections, method: body || size ? 'POST' : 'GET', ...load, body, size })
    const parts = pieces === 1 ? [] : cut(Buffer.concat(crowd.request), Buffer.byteLength(body), pieces)
    if (parts.length) crowd.request = [parts.shift()] // the others follow it
    const waiting = [] // { slot, since, at }, whose next part is still to be sent, oldest first
    let isOver = false
    const counts = await counted(async begin => {
      const next = async slot => {
        if (slot.left === 0) {
          slot.client.destroy()
          await connect(slot)
          if (isOver) return slot.client.destroy()
        }
        slot.left = (slot.left || each) - 1
        const since = performance.now()
        request(slot, since, () => next(slot))
        if (parts.length) waiting.push({ slot, since, at: 0 })
      }
      for (const slot of slots) next(Object.assign(slot, { left: each }))
      while (performance.now() - begin < seconds * 1000) {
        await sleep(1)
        const now = performance.now()
        while (waiting.length && now - waiting[0].since >= PAUSE) {
          const { slot, at } = waiting.shift()
          slot.client.write([parts[at]])
          if (at + 1 < parts.length) waiting.push({ slot, since: now, at: at + 1 })
        }
      }
    })
    isOver = true
    await acts.reset()
    return merge([counts])
  }
}

// A request in so many pieces: the header section, and the body, of this length, in equal parts.
function cut (request, length, pieces) {
  const end = request.length - length
  const each = Math.ceil(length / (pieces - 1))
  const parts = Array.from({ length: pieces - 1 }, (_, i) => request.subarray(end + i * each, end + (i + 1) * each))
  return [request.subarray(0, end), ...parts]
}

function openLoop ({ rate, seconds, gap, again }) {
  const total = Math.round(rate * seconds)
  return counted(async begin => {
    const backlog = [] // when they were due, while every connection is busy
    let due = 0
    let next = begin
    let finished = 0
    let turn = 0
    let end
    const all = new Promise(resolve => { end = resolve })

    const send = when => {
      for (let i = 0; i < slots.length; i++) {
        const slot = slots[turn = (turn + 1) % slots.length]
        if (!slot.isBusy) return request(slot, when, done)
      }
      backlog.push(when)
    }
    const done = () => {
      if (++finished === total) end()
      else if (backlog.length) send(backlog.shift())
    }
    let isOver = false
    const tick = () => {
      const now = performance.now()
      for (; due < total && next <= now; due++, next += gap() * 1000 / rate) send(next)
      if (due < total && !isOver) again(tick)
    }
    tick()
    await Promise.race([late(seconds), all])
    isOver = true
    tally.errors += total - finished
  })
}

// The first failure ends every lane, and nothing is under way any more when it is thrown.
async function inLanes (step) {
  const failures = []
  const lane = async () => {
    try {
      while (!failures.length && await step());
    } catch (err) {
      failures.push(err)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  if (failures.length) throw failures[0]
}

// A connection that waits in a listen queue looks open, and has no response.
function firstResponse (slot) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no response to the first request within ${LATE / 1000} s`)), LATE)
    request(slot, performance.now(), () => resolve(clearTimeout(timer)))
  })
}

async function counted (act) {
  tally = new Tally()
  const begin = performance.now()
  await act(begin)
  return { ...tally, seconds: (performance.now() - begin) / 1000 }
}

const late = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000 + LATE).unref())

async function connect (slot) {
  const { port, source } = slot.crowd
  for (let tries = 1; ; tries++) {
    const localAddress = source && `${source}.${1 + Math.floor(slot.index / PER_SOURCE)}`
    slot.client = new Client({ port, localAddress }, { onclose: () => broken(slot) })
    try {
      await slot.client.open()
      accepted = performance.now()
      return
    } catch (err) {
      const isOver = err.code === 'ETIMEDOUT' ? performance.now() - accepted > STALL : tries === TRIES
      if (isOver) throw new Error(`${slots.length} connections: ${err.message}`)
      await new Promise(resolve => setTimeout(resolve, 50 * tries))
    }
  }
}

// As the report's client did: a connection that breaks is made again. It is an error only if a response was pending.
function broken (slot) {
  if (tally) tally.reconnects++
  const pending = slot.pending
  slot.pending = null
  slot.isBusy = true // until it is connected again
  connect(slot).then(() => {
    slot.isBusy = false
    pending?.()
  }, () => {})
}

function request (slot, when, done) {
  const { client } = slot
  const message = client.status === '' ? undefined : crowd.message
  slot.isBusy = true
  client.request(message ? [message.text] : crowd.request, isGood => {
    tally.add(isGood, client.size || 0, performance.now() - when)
    if (!client.isOpen) {
      slot.pending = done
      return
    }
    slot.isBusy = false
    done()
  }, message?.size)
}
