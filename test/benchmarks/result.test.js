'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { cellRows, nameOf, problems, row, rowOf, rowsOf, save, write } = require('../../benchmarks/lib/run/result')
const { page } = require('../../benchmarks/lib/report/html')
const { addRatios, ranking } = require('../../benchmarks/lib/report/report')

const RESULT = require.resolve('../../benchmarks/lib/run/result')

describe('the result of a lab', () => {
  it('should be sound as the lab makes it', () => {
    assert.deepEqual(problems(result()), [])
  })

  it('should keep median and spread of exactly the rounds it holds', () => {
    const { median, min, p25, max, rounds } = row({}, [10.2500001, 8, 11])
    assert.deepEqual(rounds, [10.25, 8, 11])
    assert.deepEqual({ median, min, p25, max }, { median: 10.25, min: 8, p25: 9.125, max: 11 })
  })

  it('should refuse figures that are not above 0', () => {
    assert.match(changed(row => { row.rounds[0] = 0 }), /a figure is not above 0/)
    assert.match(changed(row => { row.rounds[0] = NaN }), /a figure is not above 0/)
  })

  it('should refuse fewer than three rounds and a spread of other figures', () => {
    assert.match(changed(row => { row.rounds.pop() }), /fewer than three rounds/)
    assert.match(changed(row => { row.median += 1 }), /the spread is not that of the rounds/)
  })

  it('should refuse rows with errors and rows that break Little\'s law', () => {
    assert.match(changed(row => { row.errors = 1 }), /has errors/)
    assert.match(changed(row => { row.requestsPerSecond = 90_000 }), /Little's law/)
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

  it('should hold the rows of a battle by which others are compared', () => {
    const missing = { missing: [{ name: 'koa', how: 'npm install in benchmarks/' }] }
    const isKoa = ({ contender, metric }) => contender === 'koa' && metric === 'cpu'
    assert.match(without(isKoa), /koa has no row of CPU µs\/request in hello/)
    assert.equal(without(isKoa, missing), '', 'who is missing is no fault')
  })

  it('should hold rows with requestsPerSecond', () => {
    assert.match(without(() => true), /no row has requestsPerSecond/)
  })

  it('should hold less when only some contenders were asked for', () => {
    const { derived } = result()
    assert.equal(without(({ contender }) => contender !== 'kone', { derived: { ...derived, only: ['kone'] } }), '')
  })

  it('should not be written unless it is sound', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-lab-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))

    const file = write(result(), folder)
    assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')), result())
    assert.throws(() => write({ ...result(), node: '' }, folder), /not sound: node is missing/)
  })

  it('should be refused with the first faults of many', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-result-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const broken = result()
    for (const row of broken.rows) row.median = 0
    const { length } = problems(broken)
    assert.ok(length > 3)
    const last = new RegExp(`not sound: [^;]+; [^;]+; [^;]+; and ${length - 3} more$`)
    assert.throws(() => write(broken, folder), { message: last })
  })
})

describe('rows', () => {
  it('should be found by workload, contender and metric', () => {
    assert.deepEqual(rowOf(result(), 'hello', 'kone').rounds, [10, 11, 10.5])
    assert.equal(rowOf(result(), 'hello', 'kone', 'throughput').unit, 'requests/s')
    assert.equal(rowOf(result(), 'hello', 'nobody'), undefined)
    assert.deepEqual(rowsOf(result(), 'hello').map(({ contender }) => contender), ['kone', 'node', 'koa'])
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

describe('the page of a result', () => {
  const made = result()
  addRatios(made, ['node'])
  const section = ranking(made, 'hello', { heading: 'wrk <50>', references: ['node'] })
  const html = page(made, { title: 'hello', sections: [section] })

  it('should ask nothing of any host', () => {
    assert.doesNotMatch(html, /\b(src|srcset|action)=|@import|url\(|<script|<link(?! rel="icon" href="data:,">)|https?:/)
  })

  it('should show figures, ratios and error bars', () => {
    assert.equal(html.match(/<rect /g).length, 3)
    assert.equal(html.match(/<line /g).length, 9)
    assert.match(html, /<td>0\.50 \(0\.50–0\.50\)<\/td>/)
  })

  it('should name machine, Node, versions and command', () => {
    for (const fact of ['Test CPU', 'v20.20.2', 'kone 2.17.0', 'node benchmarks/battle.js']) {
      assert.ok(html.includes(fact), fact)
    }
  })

  it('should say what was left out, and the commit', () => {
    const hurried = { ...made, skipped: [{ part: 'routes', reason: 'no time left' }], commit: { hash: 'a'.repeat(40), dirty: true } }
    const text = page(hurried, { title: 'hello', sections: [] })
    assert.match(text, /<dt>Left out<\/dt><dd>routes: no time left<\/dd>/)
    assert.match(text, /<dt>Commit<\/dt><dd>aaaaaaaaa with changes<\/dd>/)
    assert.doesNotMatch(html, /Left out|Commit/)
  })

  it('should escape what it is given and read in the dark', () => {
    assert.match(html, /wrk &lt;50&gt;/)
    assert.match(html, /prefers-color-scheme: dark/)
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
