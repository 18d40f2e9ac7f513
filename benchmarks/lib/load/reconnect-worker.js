'use strict'

const { Client, Tally, bytes, sampleOf } = require('./client')
const serve = require('./messages')

serve(async function ({ connections, seconds, headers, ...load }) {
  const { connection, ...others } = headers ?? {}
  const request = bytes({ ...load, headers: { ...others, Connection: 'close' } })
  const { port } = load
  const clients = new Set()
  const tally = new Tally()
  let isOver = false

  const begin = performance.now()
  for (let i = 0; i < connections; i++) visit()
  await new Promise(resolve => setTimeout(resolve, seconds * 1000))
  isOver = true
  const took = (performance.now() - begin) / 1000
  for (const client of clients) client.destroy()
  return sampleOf(tally, took)

  function visit () {
    const start = performance.now()
    const client = new Client({ port }, { untilEnd: true })
    clients.add(client)
    const done = isGood => {
      clients.delete(client)
      if (isOver) return
      tally.add(isGood, client.size, performance.now() - start)
      visit()
    }
    client.open().then(() => client.request(request, done), () => setTimeout(done, 1, false))
  }
})
