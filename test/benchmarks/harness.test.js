'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { harness } = require('../../benchmarks/lib/run/harness')
const { Lab } = require('../../benchmarks/lib/run/lab')

describe('what a generator costs by itself', { skip: process.platform !== 'linux' && 'CPU time is read from /proc' }, () => {
  it('should be measured once for each generator of a lab, also for a crowd and for bodies in a second read', async () => {
    const lab = new Lab('some', [], { quick: true, rounds: 3, node: process.execPath }, [])
    const generators = lab.generators(['split'])
    lab.result.rows.push(...['crowd, open loop', 'crowd, closed loop', 'split', undefined].map(generator => ({ generator })))
    try {
      await lab.measureHarness()
      const { harness } = lab.result
      assert.deepEqual(harness.map(row => [row.generator, row.connections, row.failed]), [['crowd', 1000, undefined], ['split', 50, undefined]])
      for (const row of harness) {
        for (const figure of ['requestsPerSecond', 'clientCpu', 'serverCpu']) assert.ok(row[figure] > 0, `${row.generator}: ${figure} ${row[figure]}`)
      }
    } finally {
      for (const generator of Object.values(generators)) generator.stop()
    }
  })

  it('should be a reason where the generator failed', async () => {
    const failing = { run: async () => ({ requests: 9, errors: 1, seconds: 1 }) }
    const [row] = await harness(['wrk'], { generators: { wrk: failing }, pins: null, quick: true })
    assert.deepEqual(row, { generator: 'wrk', connections: 50, failed: '1 errors in 10 requests' })
  })
})
