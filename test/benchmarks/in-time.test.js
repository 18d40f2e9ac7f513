'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const inTime = require('../../benchmarks/lib/run/in-time')

describe('the parts of a lab', () => {
  const parts = (done, ...sizes) => sizes.map((size, i) => ({
    name: String(i),
    size,
    act: async () => {
      done.push(String(i))
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }))

  it('should all be done, in order, when there is time', async () => {
    const done = []
    await inTime(parts(done, 1, undefined, 3), { left: () => Infinity, skip: assert.fail })
    assert.deepEqual(done, ['0', '1', '2'])
  })

  it('should be left out by name when they take longer than is left', async () => {
    const [done, skipped, begun] = [[], [], []]
    await inTime(parts(done, 1, 1e9, 1), {
      left: () => 60_000,
      skip: name => skipped.push(name),
      begin: i => begun.push(i)
    })
    assert.deepEqual([done, skipped, begun], [['0', '2'], ['1'], [0, 2]])
  })

  it('should all be left out when nothing is left', async () => {
    const [done, skipped] = [[], []]
    await inTime(parts(done, 1, 1), { left: () => -1, skip: name => skipped.push(name) })
    assert.deepEqual([done, skipped], [[], ['0', '1']])
  })
})
