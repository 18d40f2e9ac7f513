'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const { Client, bytes } = require('../../../command/measure/client')
const { quantile } = require('../../../command/measure/stats')
const { serve } = require('../../lib/load/worker')

const PATIENCE = 1000 // ms after which a client closes the connection

const FIELDS = { new: { Connection: 'close' }, kept: {} }

/**
 * So many requests in a second, of independent clients, the same with the same seed; without a rate, a closed loop of as many
 * clients. Good is a 200 within PATIENCE of when its request was due. Those before the second `from` are not in the rate.
 */
serve(async ({ port, rate, clients, connections, seconds, from = 0, seed = 1 }) => {
  const parts = bytes({ port, headers: FIELDS[connections] })
  const free = [] // connections; while none is free, another one is made
  const pending = new Set() // in the order in which they were due
  const latencies = []
  const counts = { sent: 0, inTime: 0 }

  function send (due, then = () => {}) {
    const client = free.pop() ?? new Client({ port })
    const one = { client, due, then }
    pending.add(one)
    counts.sent++
    if (!client.isOpen) client.open().catch(() => settle(one, false))
    client.request(parts, isGood => settle(one, isGood))
  }

  function settle (one, isGood) {
    const { client, due, then } = one
    if (!pending.delete(one)) return
    const now = performance.now()
    if (isGood) latencies.push(now - due)
    if (isGood && now >= begin + from * 1000 && now < end) counts.inTime++
    if (connections === 'kept' && client.isOpen && client.isWhole) free.push(client)
    else client.destroy()
    then()
  }

  const begin = performance.now()
  const end = begin + seconds * 1000
  const loop = () => { if (performance.now() < end) send(performance.now(), loop) }
  for (let i = 0; i < clients; i++) loop()
  for (let now = begin, due = rate ? begin : end; now < end || pending.size > 0; now = performance.now()) {
    for (; due <= now && due < end; due -= Math.log(1 - (seed = seed * 16807 % 2147483647) / 2147483647) * 1000 / rate) send(due)
    for (const one of pending) {
      if (now - one.due < PATIENCE) break
      settle(one, false)
    }
    await sleep(1)
  }
  for (const client of free) client.destroy()
  const p99 = latencies.length > 0 ? quantile(latencies, 0.99) : PATIENCE
  return { ...counts, good: latencies.length, perSecond: counts.inTime / (seconds - from), p99 }
})
