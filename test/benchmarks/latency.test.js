'use strict'

const http = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Crowd = require('../../benchmarks/lib/load/crowd')
const Server = require('../../benchmarks/lib/servers/server')

const file = path.join(__dirname, '../../benchmarks/labs/battle/contenders.js')

describe('latency', () => {
  it('should count from when a request was due, also of requests that wait for a connection', async () => {
    const server = http.createServer((req, res) => res.setHeader('Content-Length', 5).end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const crowd = new Crowd({ connections: 2, processes: 1 })
    try {
      await crowd.open({ port: server.address().port, connections: 2 })
      await crowd.greet()
      setTimeout(block, 400, 100)
      const { requests, errors, p50, p99, p999 } = await crowd.arrivals({ rate: 1000, seconds: 1 })
      assert.equal(requests, 1000)
      assert.equal(errors, 0)
      // A tenth of the requests are due while the server is blocked. Counted from when they are sent, two would be late.
      assert.ok(p99 >= 80 && p999 >= 90, `p99 ${p99}, p999 ${p999}`)
      assert.ok(p50 <= p99 && p99 <= p999)
    } finally {
      await crowd.reset()
      crowd.stop()
      server.close()
    }
  })

  it('should show requests that keep the server busy, in latencies and in the delay of its event loop', async () => {
    const server = await Server.start({ name: 'node', file, key: 'node', args: ['mixed'] }, { node: process.execPath })
    const crowd = new Crowd({ connections: 20, processes: 1 })
    try {
      await crowd.open({ port: server.port, connections: 20 })
      await crowd.greet()
      await server.delay()
      const { requests, p999 } = await crowd.arrivals({ rate: 1500, seconds: 1 })
      assert.equal(requests, 1500)
      assert.ok(p999 >= 5, `p999 ${p999}`)
      const delay = await server.delay()
      assert.ok(delay >= 3, `delay ${delay}`)
    } finally {
      crowd.stop()
      await server.stop()
    }
  })
})

function block (ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}
