'use strict'

const { Client, Tally, bytes, sampleOf } = require('./client')
const serve = require('./messages')

const AT_ONCE = 64 // connections being made, so that no listen queue overflows
const LATE = 30_000 // ms that a response may still take after the end

const pools = new Map() // clients by port and number of connections

serve(async function ({ connections, seconds, ...load }) {
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
  await Promise.race([late, Promise.all(pool.map(client => loop(client, { request, until, tally })))])
  clearTimeout(timer)
  return sampleOf(tally, (performance.now() - begin) / 1000)
})

async function filled (pool, port, connections) {
  const open = pool.filter(client => client.isOpen)
  while (open.length < connections) {
    const more = Math.min(AT_ONCE, connections - open.length)
    open.push(...await Promise.all(Array.from({ length: more }, () => new Client({ port }).open())))
  }
  return open
}

function loop (client, { request, until, tally }) {
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
