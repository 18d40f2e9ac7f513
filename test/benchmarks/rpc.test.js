'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { rpc, split } = require('../../benchmarks/lib/load/generators')
const contenders = require('../../benchmarks/labs/rpc/contenders')

describe('generators of calls', () => {
  async function served (listener, fn) {
    const server = http.createServer(listener).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
      await fn(server.address().port)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  }

  it('should take any other response than the expected one for an error', async t => {
    const generator = rpc({})
    t.after(() => generator.stop())
    let n = 0
    const listener = (req, res) => req.resume().on('end', () => {
      const text = n++ % 10 ? '"echo"' : '"odd"'
      res.setHeader('Content-Length', text.length)
      res.end(text)
    })
    await served(listener, async port => {
      const load = { port, path: '/', type: 'application/json', body: '[]', connections: 4, expected: { value: '200 "echo"' } }
      await assert.rejects(generator.run({ ...load, seconds: 0.01 }), {
        message: 'its response is {"value":"200 \\"odd\\""}, not {"value":"200 \\"echo\\""}'
      })
      const sample = await generator.run({ ...load, seconds: 0.3 })
      assert.ok(sample.requests > 0 && sample.errors > 0)
      assert.ok(sample.p50 <= sample.p99)
    })
  })

  it('should not wait for ever for a server that is silent, and go on with the next one after their process has ended', async t => {
    const generator = rpc({})
    t.after(() => generator.stop())
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-rpc-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'client.js')
    fs.writeFileSync(file, 'exports.ending = { open: () => process.exit(3) }')
    const load = { path: '/', type: 'application/json', body: '[]', connections: 1, seconds: 0.05, expected: { value: '200 "echo"' } }
    await served(() => {}, port => assert.rejects(generator.run({ ...load, port, late: 50 }), /^Error: its response is .*no response within 0\.05 s/))
    await assert.rejects(generator.run({ ...load, client: { file, key: 'ending' } }), /ended with code 3$/)
    await served((req, res) => req.resume().on('end', () => {
      res.setHeader('Content-Length', 6)
      res.end('"echo"')
    }), async port => assert.equal((await generator.run({ ...load, port })).errors, 0))
  })

  it('should send a body in pieces, and close a connection after so many responses', async t => {
    const generator = split({})
    t.after(() => generator.stop())
    const sockets = [] // of each request
    const reads = []
    const listener = (req, res) => {
      const pieces = []
      req.on('data', chunk => pieces.push(String(chunk)))
      req.on('end', () => {
        reads.push(pieces)
        sockets.push(req.socket)
        res.setHeader('Content-Length', 2)
        res.end('ok')
      })
    }
    await served(listener, async port => {
      const load = { port, path: '/', body: 'one two six', connections: 1, pieces: 4, each: 2 }
      // a busy machine gets several pieces in one read, and few requests
      for (let seconds = 0.2; reads.length < 3 || !reads.some(pieces => pieces.length === 3); seconds *= 2) {
        assert.ok(seconds < 10, 'a piece of the body is a read of its own')
        for (const list of [reads, sockets]) list.length = 0
        const { errors } = await generator.run({ ...load, seconds })
        assert.equal(errors, 0)
      }
      assert.equal(new Set(sockets).size, Math.ceil(reads.length / 2))
      assert.ok(reads.every(pieces => pieces.join('') === load.body))
    })
  })

  it('should take a response of another status for an error', async t => {
    const generator = split({})
    t.after(() => generator.stop())
    await served((req, res) => {
      res.statusCode = 500
      res.setHeader('Content-Length', 0)
      res.end()
    }, async port => {
      const { requests, errors } = await generator.run({ port, connections: 2, seconds: 0.5, pieces: 1 })
      assert.equal(requests, 0)
      assert.ok(errors > 0)
    })
  })
})

describe('the call without isolation', () => {
  it('should be of the same app, without isolate and nothing else', () => {
    const names = name => contenders[name].start().middleware.map(fn => fn.name)
    const isolated = names('kone')
    assert.ok(isolated.includes('isolate'))
    assert.deepEqual(names('kone-unguarded'), isolated.filter(name => name !== 'isolate'))
  })
})
