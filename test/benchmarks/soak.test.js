'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { mixed } = require('../../benchmarks/labs/soak/soak')
const { memory } = require('../../benchmarks/labs/soak/view')
const Session = require('../../benchmarks/lib/run/session')
const Figures = require('../../benchmarks/lib/report/figures')

const PACKAGES = path.join(__dirname, '../../benchmarks/node_modules')

describe('soak', { skip: !fs.existsSync(PACKAGES) && 'npm ci in benchmarks/' }, () => {
  it('should read memory after the start and over the requests of the mixed profile', async () => {
    const lab = new Session('soak', [], { quick: true, rounds: 3, node: process.execPath }, [])
    try {
      await mixed(lab, ['kone', 'node'], { each: 30, looks: 3 })
    } finally {
      for (const generator of Object.values(lab.generators())) generator.stop()
    }
    const { rows, rejected, derived } = lab.result
    assert.deepEqual(rejected, [])
    assert.deepEqual(rows.map(({ contender, metric, unit, rounds }) => [contender, metric, unit, rounds.length]), [
      ['kone', 'start', 'bytes', 3], ['node', 'start', 'bytes', 3], ['kone', 'memory', 'bytes', 3], ['node', 'memory', 'bytes', 3]
    ])
    for (const { rounds } of rows) assert.ok(rounds.every(bytes => bytes > 20e6 && bytes < 1e9), String(rounds))
    assert.equal(derived.requestsPerRound, 30)

    const { heading, table } = memory(new Figures(lab.result), 'mixed')
    assert.equal(heading, 'Resident memory, MB, over 90 requests of the mixed profile')
    assert.deepEqual(table[0], ['', 'after start', '1/10', '2/10', '3/10', 'end ÷ first tenth'])
    assert.deepEqual(table.slice(1).map(([name]) => name.split(' ')[0]).sort(), ['kone', 'node'])
    assert.ok(table.slice(1).every(line => line.slice(1, -1).every(text => /^\d+$/.test(text))))
  })
})
