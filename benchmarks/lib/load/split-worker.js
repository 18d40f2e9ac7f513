'use strict'

const { Client, Tally, bytes, sampleOf } = require('./client')
const serve = require('./messages')

const PAUSE = 2 // ms between headers and body, far above a server's reaction

serve(async function ({ connections, seconds, body, ...load }) {
  const { port } = load
  const [whole] = bytes({ method: 'POST', ...load, body })
  const content = [whole.subarray(whole.length - Buffer.byteLength(body))]
  const start = [whole.subarray(0, whole.length - Buffer.byteLength(body))]
  const tally = new Tally()
  const waiting = [] // { client, since }, whose bodies are still to be sent, oldest first
  const clients = await Promise.all(Array.from({ length: connections }, () => new Client({ port }).open()))

  const begin = performance.now()
  for (const client of clients) next(client)
  const timer = setInterval(() => {
    const now = performance.now()
    while (waiting.length && now - waiting[0].since >= PAUSE) waiting.shift().client.write(content)
  }, 1)
  await new Promise(resolve => setTimeout(resolve, seconds * 1000))
  clearInterval(timer)
  const took = (performance.now() - begin) / 1000
  for (const client of clients) client.destroy()
  return sampleOf(tally, took)

  function next (client) {
    const since = performance.now()
    client.request(start, isGood => {
      tally.add(isGood, client.size || 0, performance.now() - since)
      if (client.isOpen) next(client)
    })
    waiting.push({ client, since })
  }
})
