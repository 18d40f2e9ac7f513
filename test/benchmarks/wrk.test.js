'use strict'

const http = require('node:http')
const net = require('node:net')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const nginx = require('../../benchmarks/lib/load/nginx')
const wrk = require('../../benchmarks/lib/load/wrk')

// wrk stands still, too, while other programs have the cores.
const ATTEMPTS = 6
const agrees = underWay => underWay > 0.5 && underWay < 1.2

describe('wrk', { skip: wrk.missing() ?? false }, () => {
  it('should reject with a sentence when no response comes, so that the round is measured again', async () => {
    const sockets = new Set()
    const silent = net.createServer(socket => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    try {
      const load = { port: silent.address().port, connections: 2, seconds: 1 }
      await assert.rejects(wrk({}).run(load), { message: 'no response came in 1 s' })
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })

  it('should count responses below 400 as errors where all must fail, and the others elsewhere', async t => {
    let count = 0
    const server = http.createServer((req, res) => {
      res.statusCode = count++ % 2 ? 200 : 404
      res.end()
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    for (const isFailing of [true, false]) {
      const load = { port: server.address().port, connections: 1, seconds: 1, isFailing }
      const { requests, errors } = await wrk({}).run(load)
      assert.ok(Math.abs(errors - requests / 2) <= 1, `${errors} errors of ${requests}, ${isFailing}`)
    }
  })

  it('should reject soon after its time when the server accepts nothing, before TCP gives up', async t => {
    const blocked = spawn(process.execPath, ['-e', `
      const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, String(server.address().port))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      })`], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => blocked.kill('SIGKILL'))
    const [port] = await once(blocked.stdout, 'data')
    const waiting = Array.from({ length: 4 }, () => net.connect(Number(port), '127.0.0.1').on('error', () => {}))
    t.after(() => { for (const socket of waiting) socket.destroy() })
    await once(waiting[0], 'connect')
    await assert.rejects(wrk({ late: 200 }).run({ port: Number(port), connections: 2, seconds: 1 }), /not done 0.2 s after its time/)
  })

  // A closed loop: all that connections may have under way is under way, but for the time that wrk itself takes.
  for (const [connections, pipeline] of [[64, 1], [16, 16], [64, 16], [256, 16]]) {
    for (const stall of [0, 60]) {
      const where = `${connections} connections, ${pipeline} deep, ${stall ? `the server stands still for ${stall} ms at times` : 'no stalls'}`
      it(`should give a mean latency that agrees with Little's law: ${where}`, async t => {
        const response = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        const server = net.createServer(socket => {
          let rest = ''
          socket.on('error', () => {}).on('data', data => {
            const requests = (rest + data.toString('latin1')).split('\r\n\r\n')
            rest = requests.pop()
            socket.write(Buffer.alloc(requests.length * response.length, response))
          })
        }).listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
        await once(server, 'listening')
        const { port } = server.address()
        const stalls = stall && setInterval(() => {
          for (const end = performance.now() + stall; performance.now() < end;);
        }, 3 * stall)
        t.after(() => { clearInterval(stalls); server.close() })
        const measured = []
        for (let i = 0; i < ATTEMPTS && !measured.some(agrees); i++) {
          const { requestsPerSecond, latencyMeanMs } = await wrk({}).run({ port, connections, pipeline, seconds: 1 })
          measured.push(requestsPerSecond * latencyMeanMs / 1000 / (connections * pipeline))
        }
        assert(measured.some(agrees), `${measured} of what may be under way`)
      })
    }
  }
})

/** What a server sees of a load: versions of HTTP, and how many requests a connection has. */
async function seenBy (t, generator, load) {
  const versions = new Set()
  let connections = 0
  let requests = 0
  const server = http.createServer((req, res) => {
    requests++
    versions.add(req.httpVersion)
    res.setHeader('Content-Length', 5) // wrk takes an end of the connection for an error
    res.end('hello')
  }).on('connection', () => { connections++ }).listen(0, '127.0.0.1')
  t.after(() => {
    generator.stop()
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const sample = await generator.run({ port: server.address().port, connections: 4, seconds: 1, ...load })
  assert.equal(sample.errors, 0)
  assert(sample.requests > 20, `${sample.requests} requests`)
  return { versions: [...versions], isKept: requests > 5 * connections }
}

describe('clients that close', { skip: wrk.missing() ?? false }, () => {
  it('should send HTTP/1.0 on connections of their own', async t => {
    assert.deepEqual(await seenBy(t, wrk({}), { version: '1.0' }), { versions: ['1.0'], isKept: false })
  })
})

describe('nginx in front of a server', { skip: nginx.missing() ?? false }, () => {
  // The question before the clock starts comes by 1.1.
  it('should have its defaults', async t => {
    assert.deepEqual(await seenBy(t, nginx({}), {}), { versions: ['1.1', '1.0'], isKept: false })
  })

  it('should keep connections', async t => {
    assert.deepEqual(await seenBy(t, nginx({}), { isKept: true }), { versions: ['1.1'], isKept: true })
  })
})
