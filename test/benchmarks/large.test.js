'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { contenders } = require('../../benchmarks/labs/static')
const { LARGE, contentOf, transfer } = require('../../benchmarks/labs/static/large')
const { workersFor } = require('../../benchmarks/labs/static/plan')
const Server = require('../../benchmarks/lib/servers/server')

describe('large files in static', () => {
  it('should have the size that they are named after', () => {
    assert.deepEqual(LARGE.map(({ bytes }) => contentOf(bytes).length / 2 ** 20), [1, 100])
  })

  it('should be measured by the bytes that came, with the memory of the server', async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-large-test-'))
    const size = 2 ** 20
    fs.writeFileSync(path.join(root, '1m.html'), contentOf(size))
    const contender = contenders.find(({ name }) => name === 'node-disk')
    const server = await Server.start({ ...contender, args: [root] }, { node: process.execPath })
    try {
      const sample = await transfer({ server, load: { path: '/1m.html' } }, { run: download })
      assert.equal(sample.bytes, 20 * size)
      assert.ok(Math.abs(sample.perMB - sample.cpu * 20 / (sample.bytes / 1e6)) < 1e-6, `${sample.perMB} µs/MB`)
      assert.ok(sample.perMB > 0)
      assert.equal(sample.bandwidth, sample.bytes / 1e6 / sample.seconds)
      if (process.platform === 'linux') assert.ok(sample.peak > 20e6, `${sample.peak} bytes are too few for Node`)
    } finally {
      await server.stop()
      fs.rmSync(root, { recursive: true })
    }
  })
})

describe('servers of 60,000 connections', () => {
  it('should have a process more where every response opens a file', () => {
    const LIMIT = 20_000
    const of = name => contenders.find(one => one.name === name)
    assert.equal(workersFor(of('node'), 60_000, LIMIT), 4)
    const workers = workersFor(of('sirv'), 60_000, LIMIT)
    assert.ok(60_000 * 2 / workers < LIMIT, `${workers} processes of sirv`)
  })
})

async function download ({ port, path }) {
  const start = performance.now()
  let bytes = 0
  for (let i = 0; i < 20; i++) bytes += (await (await fetch(`http://127.0.0.1:${port}${path}`)).arrayBuffer()).byteLength
  return { requests: 20, bytes, seconds: (performance.now() - start) / 1000 }
}
