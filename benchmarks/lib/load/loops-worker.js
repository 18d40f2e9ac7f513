'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const { Client, bytes } = require('./client')
const { Tally, merge } = require('./sample')
const { serve } = require('./worker')

const AT_ONCE = 64 // connections being made, so that no listen queue overflows
const LATE = 30_000 // ms that a response may still take after the end
const PAUSE = 2 // ms between headers and body, far above a server's reaction

const pools = new Map() // clients by port and number of connections

serve(({ loop, ...load }) => loops[loop](load))

const loops = {
  async pooled ({ connections, seconds, ...load }) {
    const { port } = load
    const request = bytes(load)
    const key = `${port} ${connections}`
    const pool = await filled(pools.get(key) ?? [], port, connections)
    pools.set(key, pool)

    const tally = new Tally()
    const begin = performance.now()
    const until = begin + seconds * 1000
    let timer
    const late = new Promise(resolve => { timer = setTimeout(resolve, seconds * 1000 + LATE) })
    await Promise.race([late, Promise.all(pool.map(client => repeated(client, { request, until, tally })))])
    clearTimeout(timer)
    return merge([{ ...tally, seconds: (performance.now() - begin) / 1000 }])
  },

  async split ({ connections, seconds, body, ...load }) {
    const { port } = load
    const [whole] = bytes({ method: 'POST', ...load, body })
    const start = [whole.subarray(0, whole.length - Buffer.byteLength(body))]
    const content = [whole.subarray(whole.length - Buffer.byteLength(body))]
    const tally = new Tally()
    const waiting = [] // { client, since }, whose bodies are still to be sent, oldest first
    const clients = await Promise.all(Array.from({ length: connections }, () => new Client({ port }).open()))

    const begin = performance.now()
    for (const client of clients) next(client)
    const timer = setInterval(() => {
      const now = performance.now()
      while (waiting.length && now - waiting[0].since >= PAUSE) waiting.shift().client.write(content)
    }, 1)
    await sleep(seconds * 1000)
    clearInterval(timer)
    const took = (performance.now() - begin) / 1000
    for (const client of clients) client.destroy()
    return merge([{ ...tally, seconds: took }])

    function next (client) {
      const since = performance.now()
      client.request(start, isGood => {
        tally.add(isGood, client.size || 0, performance.now() - since)
        if (client.isOpen) next(client)
      })
      waiting.push({ client, since })
    }
  }
}

async function filled (pool, port, connections) {
  const open = pool.filter(client => client.isOpen)
  while (open.length < connections) {
    const more = Math.min(AT_ONCE, connections - open.length)
    open.push(...await Promise.all(Array.from({ length: more }, () => new Client({ port }).open())))
  }
  return open
}

function repeated (client, { request, until, tally }) {
  return new Promise(resolve => {
    function next () {
      const start = performance.now()
      client.request(request, isGood => {
        const now = performance.now()
        tally.add(isGood, client.size || 0, now - start)
        if (now < until && client.isOpen) next()
        else resolve()
      })
    }
    next()
  })
}
