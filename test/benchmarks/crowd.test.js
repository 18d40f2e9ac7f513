'use strict'

const { spawn } = require('node:child_process')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const assert = require('node:assert/strict')
const Crowd = require('../../benchmarks/lib/load/crowd')
const { arrivals } = require('../../benchmarks/lib/load/generators')
const { merge } = require('../../benchmarks/lib/load/sample')
const Server = require('../../benchmarks/lib/servers/server')
const { descriptors, processesFor } = require('../../benchmarks/lib/run/connections')
const until = require('../helpers/until')

describe('a crowd of connections', () => {
  it('should connect, ask, keep what it has, make again what breaks, and be gone after a reset', async () => {
    let requests = 0
    const server = http.createServer((req, res) => {
      requests++
      res.setHeader('Content-Length', 5)
      res.end('hello')
    })
    server.keepAliveTimeout = 60_000
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    const sockets = new Set()
    server.on('connection', socket => sockets.add(socket.once('close', () => sockets.delete(socket))))

    const crowd = new Crowd({ connections: 40 })
    try {
      assert.deepEqual(await crowd.open({ port, connections: 10 }), { open: 10 })
      assert.deepEqual(await crowd.open({ port, connections: 40 }), { open: 40 })
      assert.equal(requests, 0)

      const greeted = await crowd.greet()
      assert.equal(greeted.requests, 40)
      assert.equal(greeted.errors, 0)
      assert.equal(requests, 40)
      if (process.platform === 'linux') {
        const sources = new Set([...sockets].map(socket => socket.remoteAddress))
        assert.deepEqual(sources, new Set(['127.0.1.1', '127.0.2.1']))
      }

      const [first] = sockets
      first.destroy()
      await until(() => sockets.size === 40 && !sockets.has(first))

      const paced = await crowd.paced({ rate: 400, seconds: 0.25 })
      assert.equal(paced.requests, 100)
      assert.equal(paced.errors, 0)
      assert.ok(paced.p50 <= paced.p90 && paced.p90 <= paced.p99)

      const closed = await crowd.closed({ seconds: 0.1 })
      assert.ok(closed.requests >= 40)
      assert.equal(requests, 140 + closed.requests)

      await crowd.reset()
      await until(() => sockets.size === 0)
    } finally {
      crowd.stop()
      server.close()
      server.closeAllConnections()
    }
  })

  it('should say that a server accepts no more, or no longer responds, and serve the next one', async t => {
    const program = 'require("http").createServer((req, res) => res.setHeader("Content-Length", 0).end())' +
      '.listen({ port: 0, host: "127.0.0.1", backlog: 8 }, function () { console.log(this.address().port) })'
    const child = spawn(process.execPath, ['-e', program])
    const crowd = new Crowd({ connections: 200 })
    t.after(() => {
      crowd.stop()
      child.kill('SIGKILL')
    })
    const port = Number(await once(child.stdout, 'data'))
    child.kill('SIGSTOP')
    await assert.rejects(crowd.open({ port, connections: 200 }), /^Error: \d+ connections: not accepted within 10 s$/)
    await crowd.reset()
    child.kill('SIGCONT')
    assert.deepEqual(await crowd.open({ port, connections: 4 }), { open: 4 })
    child.kill('SIGSTOP')
    await assert.rejects(crowd.greet(), /^Error: no response to the first request within 10 s$/)
    await crowd.reset()
    child.kill('SIGCONT')
    assert.deepEqual(await crowd.open({ port, connections: 30 }), { open: 30 })
    assert.equal((await crowd.greet()).requests, 30)
  })

  it('should count what is no 200 as an error', async () => {
    const server = http.createServer((req, res) => {
      res.writeHead(503, { 'Content-Length': 0 }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const crowd = new Crowd({ connections: 2 })
    try {
      await crowd.open({ port: server.address().port, connections: 2 })
      assert.equal((await crowd.greet()).errors, 2)
      await crowd.reset()
      const where = { port: server.address().port, connections: 2 }
      await assert.rejects(crowd.hold(where, () => assert.fail('it acts')), { message: '2 errors in the first responses' })
      await until(async () => await promisify(server.getConnections).call(server) === 0)
    } finally {
      crowd.stop()
      server.close()
      server.closeAllConnections()
    }
  })
})

describe('the latencies of independent clients', () => {
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

  it('should be a load between two marks', async t => {
    const server = http.createServer((req, res) => res.setHeader('Content-Length', 5).end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const [generator, marks] = [arrivals({}), []]
    t.after(() => {
      generator.stop()
      server.close()
      server.closeAllConnections()
    })
    const load = { port: server.address().port, connections: 10, rate: 200, seconds: 0.5, mark: what => marks.push(what) }
    const { requests, errors } = await generator.run(load)
    assert.deepEqual([requests, errors, marks], [100, 0, ['settled', 'over']])
  })
})

function block (ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe('a server with KEEP_ALIVE', () => {
  const file = require.resolve('./fixtures/contenders')
  const start = env => Server.start({ name: 'impatient', file, key: 'impatient', env }, { node: process.execPath })

  // The first of a hundred thousand connections are silent until the last one is open.
  it('should keep a connection that sends nothing, which it closes otherwise', async () => {
    const [servers, sockets] = [await Promise.all([start({ KEEP_ALIVE: '600000' }), start({ KEEP_ALIVE: '' })]), []]
    try {
      for (const { port } of servers) sockets.push(net.connect(port, '127.0.0.1').on('error', () => {}).resume())
      const [kept, closed] = sockets
      await once(closed, 'close')
      assert.equal(kept.destroyed, false)
      kept.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      assert.match(String(await once(kept, 'data')), /^HTTP\/1.1 200 OK/)
    } finally {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map(server => server.stop()))
    }
  })
})

describe('what several processes measured', () => {
  it('should be one sample', () => {
    const part = { requests: 2, errors: 0, reconnects: 1, bytes: 10, seconds: 1, latencies: [1, 3] }
    const whole = merge([part, { ...part, seconds: 2, errors: 1, latencies: [5, 7] }])
    assert.deepEqual([whole.requests, whole.errors, whole.reconnects, whole.bytes, whole.seconds], [4, 1, 2, 20, 2])
    assert.deepEqual([whole.requestsPerSecond, whole.latencyMeanMs, whole.p50], [2, 4, 4])
  })
})

describe('the processes of a server', () => {
  it('should be as many as the descriptors ask for', () => {
    assert.equal(processesFor(10_000, 20_000), 1)
    assert.equal(processesFor(50_000, 20_000), 3)
    assert.equal(processesFor(100_000, 20_000), 6)
    assert.equal(processesFor(100_000, Infinity), 1)
    assert.ok(descriptors() > 0)
  })
})
