'use strict'

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const { pooled, rpc } = require('../../benchmarks/lib/load/generators')
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

  it('should keep connections open from round to round, and finish the last response', async t => {
    const generator = pooled({})
    t.after(() => generator.stop())
    const sockets = new Set()
    const listener = (req, res) => {
      sockets.add(req.socket)
      let size = 0
      req.on('data', chunk => { size += chunk.length })
      req.on('end', () => {
        res.setHeader('Content-Length', String(size).length)
        res.end(String(size))
      })
    }
    await served(listener, async port => {
      const load = { group: 'a', port, method: 'POST', size: 1e6, connections: 3, seconds: 0.1 }
      for (let round = 0; round < 2; round++) {
        const { requests, errors } = await generator.run(load)
        assert.ok(requests >= 3)
        assert.equal(errors, 0)
      }
      assert.equal(sockets.size, 3)
    })
  })

  it('should take a response of another status for an error', async t => {
    const generator = pooled({})
    t.after(() => generator.stop())
    await served((req, res) => {
      res.statusCode = 500
      res.setHeader('Content-Length', 0)
      res.end()
    }, async port => {
      const { requests, errors } = await generator.run({ group: 'a', port, connections: 2, seconds: 0.05 })
      assert.equal(requests, 0)
      assert.ok(errors >= 2)
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
