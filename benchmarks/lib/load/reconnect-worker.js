'use strict'

const net = require('node:net')

process.on('disconnect', () => process.exit())
process.on('message', load => shoot(load).then(sample => process.send({ sample })))

async function shoot ({ port, path = '/', headers = {}, connections, seconds }) {
  const fields = { Host: `127.0.0.1:${port}`, ...headers, Connection: 'close' }
  delete fields.connection
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
  const sockets = new Set()
  let requests = 0
  let errors = 0
  let bytes = 0
  let waited = 0 // ms, of all answered requests
  let longest = 0
  let over = false

  const begin = performance.now()
  for (let i = 0; i < connections; i++) ask()
  await new Promise(resolve => setTimeout(resolve, seconds * 1000))
  over = true
  const took = (performance.now() - begin) / 1000
  for (const socket of sockets) socket.destroy()

  const mean = waited / requests
  return {
    requests,
    seconds: took,
    bytes,
    errors,
    requestsPerSecond: requests / took,
    latencyMeanMs: mean,
    latency: { average: mean, max: longest }
  }

  function ask () {
    const asked = performance.now()
    const socket = net.connect({ port, host: '127.0.0.1' }, () => socket.write(request))
    let first = null
    let whole = false // the server has ended it
    sockets.add(socket)
    socket.on('data', chunk => {
      first ??= chunk
      bytes += chunk.length
    })
    socket.on('end', () => { whole = true })
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      if (over) return
      const ms = performance.now() - asked
      if (whole && first?.toString('latin1', 0, 13) === 'HTTP/1.1 200 ') {
        requests++
        waited += ms
        longest = Math.max(longest, ms)
      } else errors++
      ask()
    })
  }
}
