'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { SIZES, bodyOf, growth, plan } = require('../../benchmarks/labs/static/plan')

describe('the workloads of static', () => {
  it('should be every file at 64 connections, two at 6,000, and a pipelined one', () => {
    const names = plan({ quick: false }).flat().map(({ workload }) => workload).sort()
    const many = ['13 B, 6,000 connections', '10 KB, 6,000 connections']
    assert.deepEqual(names, [...SIZES.map(({ name }) => `${name}, 64 connections`), ...many, '13 B, pipelined 16'].sort())
  })

  it('should be the report\'s file of all contenders, unless in a hurry', () => {
    const [first] = plan({ quick: false })
    assert.deepEqual(first.map(({ only }) => only), [undefined, undefined, undefined])
    assert.ok(plan({ quick: true })[0][1].only.includes('kone'))
  })

  it('should last two seconds and more', () => {
    for (const { workload, load } of plan({ quick: false }).flat()) assert.ok(load.seconds >= 2, workload)
  })

  it('should hold in a hurry what the targets need, and every file', () => {
    const [first, ...others] = plan({ quick: true })
    assert.deepEqual(first.map(({ workload }) => workload), ['13 B, 64 connections', '13 B, 6,000 connections', '13 B, pipelined 16'])
    assert.deepEqual(new Set([first, ...others].flat().map(({ path }) => path)), new Set(SIZES.map(({ path }) => path)))
  })

  it('should ask for pages of exactly the size they are named after', () => {
    for (const { bytes } of SIZES) assert.equal(Buffer.byteLength(bodyOf(bytes)), bytes)
  })
})

describe('the growth of a figure', () => {
  it('should be compared round by round', () => {
    const figures = { kone: [[10, 10], [15, 30]], net: [[8, 8], [8, 16]] }
    const { rounds } = growth(name => [...figures[name]], 'kone', 'net')
    assert.deepEqual(rounds, [1.5, 1.5])
  })

  it('should be null where one was not measured', () => {
    assert.equal(growth(name => name === 'kone' ? [[1], [2]] : [[], []], 'kone', 'net'), null)
  })
})
