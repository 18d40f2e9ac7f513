'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { fault, newest, read } = require('../../benchmarks/lib/report/committed')
const { result } = require('./fixtures/labs')

const REPORT = path.join(__dirname, '../../benchmarks/report.js')

describe('a folder of results', () => {
  let folder

  before(() => { folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-results-')) })
  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  const changed = change => {
    const one = result('battle')
    change(one)
    return one
  }

  for (const [title, broken, line] of [
    ['a list', [], /^the whole file: .*expected object/],
    ['another project\'s JSON', { name: 'x', version: '1.0.0' }, /^lab: /],
    ['a figure that is a text', changed(({ rows }) => { rows[2].rounds[1] = '12' }), /^rows\[2\]\.rounds\[1\]: .*expected number, received string/],
    ['a figure of 0', changed(({ rows }) => { rows[0].median = 0 }), /^rows\[0\]\.median: /],
    ['no machine', changed(one => { delete one.machine }), /^machine: /],
    ['a core less than one', changed(({ machine }) => { machine.cores = 0 }), /^machine\.cores: /],
    ['a Node without a version', changed(one => { one.node = 'lts' }), /^node: must be a version/],
    ['a date that is no date', changed(one => { one.date = 'yesterday' }), /^date: /],
    ['a spread of other rounds', changed(({ rows }) => { rows[0].max = 99 }), /^hello node: the spread is not that of the rounds/]
  ]) {
    it(`should name the field of a broken file: ${title}`, () => assert.match(fault(broken), line))
  }

  it('should be read but for what is broken, with one line for each such file', () => {
    fs.writeFileSync(path.join(folder, 'battle.node26.json'), JSON.stringify(result('battle')))
    fs.writeFileSync(path.join(folder, 'half.json'), JSON.stringify(result('mw')).slice(0, 500))
    fs.writeFileSync(path.join(folder, 'soak.json'), JSON.stringify(changed(({ rows }) => { delete rows[0].unit })))
    const { results, faults } = read(folder)
    assert.deepEqual(results.map(({ lab }) => lab), ['battle'])
    assert.equal(faults.length, 2)
    assert.match(faults[0], /^half\.json is left out: the whole file: it is not JSON \(.*\)$/)
    assert.match(faults[1], /^soak\.json is left out: rows\[0\]\.unit: /)
  })

  it('should be empty where the folder is missing', () => {
    assert.deepEqual(read(path.join(folder, 'nowhere')), { results: [], faults: [] })
  })

  it('should count the newest of a lab and a Node, and a quick run only where there is nothing better', () => {
    const [old, fresh] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'].map(date => result('battle', { date }))
    const quick = { ...result('battle', { date: '2026-03-01T00:00:00.000Z' }), derived: { quick: true } }
    const twenty = result('battle', { node: 20 })
    const [first, second] = newest([fresh, quick, twenty, old]).get('battle')
    assert.equal(first.result, fresh)
    assert.equal(second.result, twenty)
    assert.equal(newest([quick]).get('battle')[0].result, quick)
  })

  it('should become pages by one command, which goes on behind a broken file', () => {
    const to = path.join(folder, 'to')
    const run = args => spawnSync(process.execPath, [REPORT, ...args], { encoding: 'utf8' })
    const { status, stdout, stderr } = run(['--from', folder, '--to', to])
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^half\.json is left out: the whole file: .*\nsoak\.json is left out: rows\[0\]\.unit: .*\n/)
    assert.match(stdout, /README\.md and docs\/reports: \d+ files of 1 results?/)
    assert.match(fs.readFileSync(path.join(to, 'docs/reports/battle.md'), 'utf8'), /## Measured: autocannon/)
    assert.ok(fs.existsSync(path.join(folder, 'report/battle.node26.html')))

    fs.rmSync(path.join(folder, 'battle.node26.json'))
    assert.equal(run(['--from', folder, '--to', to]).status, 0)
    assert.deepEqual(fs.readdirSync(path.join(to, 'docs/reports/charts')), [], 'charts of what is gone are removed')
    assert.match(run(['--form', folder]).stderr, /^report: .*'--form'/)
    assert.equal(run(['--form', folder]).status, 2)
  })
})
