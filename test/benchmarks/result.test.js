'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { cellRows, nameOf, parse, problems, row, save, write } = require('../../benchmarks/lib/run/result')

const RESULT = require.resolve('../../benchmarks/lib/run/result')

describe('the result of a lab', () => {
  it('should be sound as the lab makes it', () => {
    assert.deepEqual(problems(result()), [])
  })

  it('should keep median and spread of exactly the rounds it holds', () => {
    const { median, min, max, rounds } = row({}, [10.2500001, 8, 11])
    assert.deepEqual(rounds, [10.25, 8, 11])
    assert.deepEqual({ median, min, max }, { median: 10.25, min: 8, max: 11 })
  })

  it('should refuse figures that are not above 0', () => {
    assert.match(changed(row => { row.rounds[0] = 0 }), /a figure is not above 0/)
    assert.match(changed(row => { row.rounds[0] = NaN }), /a figure is not above 0/)
  })

  it('should refuse fewer than three rounds', () => {
    assert.match(changed(row => { row.rounds.pop() }), /fewer than three rounds/)
  })

  it('should refuse rows that break Little\'s law, but not those of a fixed rate, whose latency has another meaning', () => {
    assert.match(changed(row => { row.requestsPerSecond = 90_000 }), /Little's law/)
    assert.equal(changed(row => Object.assign(row, { requestsPerSecond: 90_000, rate: 90_000 })), '')
  })

  it('should refuse what is not the result of a lab', () => {
    for (const text of ['{}', '[]', 'null', '{"rows":[]}']) assert.throws(() => parse(text), /it is not the result of a lab/)
    assert.throws(() => parse(JSON.stringify({ ...result(), node: '20' })), /node must be a version, as v26\.1\.0/)
    assert.throws(() => parse(JSON.stringify({ ...result(), rejected: 1 })), /it is not the result of a lab/)
  })

  it('should refuse a contender without a version, and one that is rejected and measured', () => {
    const unknown = result()
    unknown.contenders.pop()
    assert.match(problems(unknown).join(), /hello kone: not among the contenders/)

    const both = result()
    both.rejected.push({ workload: 'hello', contender: 'kone', reason: 'its body is ""' })
    assert.match(problems(both).join(), /rejected and measured/)
  })

  it('should refuse rows with requestsPerSecond that do not say of how many connections, and how soon', () => {
    assert.match(changed(row => { delete row.connections }), /connections and latencyMeanMs are needed/)
    assert.match(changed(row => { row.latencyMeanMs = NaN }), /connections and latencyMeanMs are needed/)
  })

  it('should hold kone and two others', () => {
    assert.match(without(({ contender }) => contender === 'kone'), /kone was not measured/)
    assert.match(without(({ contender }) => contender === 'koa'), /fewer than two others were measured/)
  })

  it('should hold less when only some contenders were asked for', () => {
    const { derived } = result()
    assert.equal(without(({ contender }) => contender !== 'kone', { derived: { ...derived, only: ['kone'] } }), '')
  })

  it('should not be written unless it is sound', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-lab-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))

    const file = write(result(), folder)
    assert.deepEqual(parse(fs.readFileSync(file, 'utf8')).rows, JSON.parse(JSON.stringify(result().rows)))
    assert.throws(() => write({ ...result(), node: '' }, folder), /not sound: node must be a version/)
  })

  it('should be refused with the first faults of many', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-result-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const broken = result()
    for (const row of broken.rows) row.rounds = []
    const { length } = problems(broken)
    assert.ok(length > 3)
    const last = new RegExp(`not sound: [^;]+; [^;]+; [^;]+; and ${length - 3} more$`)
    assert.throws(() => write(broken, folder), { message: last })
  })
})

describe('the file of a result', () => {
  it('should be named after the lab and the major version of Node', () => {
    assert.equal(nameOf({ lab: 'battle', node: 'v26.10.0' }), 'battle.node26')
  })

  // A file that may not grow fails as one on a full disk does.
  it('should keep what was there when the new content cannot be written', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-lab-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const file = save(path.join(folder, 'a.json'), 'before')
    const script = `require(${JSON.stringify(RESULT)}).save(${JSON.stringify(file)}, 'x'.repeat(1e6))`
    const { status, stderr } = spawnSync('/bin/sh', ['-c', 'ulimit -f 1; exec "$0" -e "$1"', process.execPath, script], { encoding: 'utf8' })
    assert.notEqual(status, 0)
    assert.match(stderr, /EFBIG/)
    assert.deepEqual(fs.readdirSync(folder), ['a.json'])
    assert.equal(fs.readFileSync(file, 'utf8'), 'before')
  })
})

function result () {
  const load = { generator: 'wrk', connections: 50, seconds: 2 }
  const sample = cpu => ({ cpu, requestsPerSecond: 50_000, latencyMeanMs: 1 })
  const cell = (name, figures) => ({ workload: 'hello', server: { name }, load, samples: figures.map(sample) })
  return {
    lab: 'battle',
    date: '2026-11-21T12:00:00.000Z',
    node: 'v20.20.2',
    command: 'node benchmarks/battle.js',
    machine: { cpu: 'Test CPU', cores: 2, kernel: 'Linux 6' },
    contenders: [{ name: 'node', version: '20.20.2' }, { name: 'koa', version: '2.16.4' }, { name: 'kone', version: '2.17.0' }],
    rows: [
      ...cellRows(cell('kone', [10, 11, 10.5])),
      ...cellRows(cell('node', [20, 22, 21])),
      ...cellRows(cell('koa', [30, 33, 31]))
    ],
    rejected: [],
    derived: { quick: false, rounds: 3, about: {}, ratios: [], remarks: [], discarded: [], responses: [] }
  }
}

function changed (change) {
  const broken = result()
  change(broken.rows[0])
  return problems(broken).join('; ')
}

function without (isGone, changes) {
  const made = { ...result(), ...changes }
  return problems({ ...made, rows: made.rows.filter(row => !isGone(row)) }).join('; ')
}
