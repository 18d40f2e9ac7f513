'use strict'

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { lacks } = require('../../benchmarks/lib/run/complete')
const { cellRows, parse, stringify } = require('../../benchmarks/lib/run/result')

const RESULTS = path.join(__dirname, '../../benchmarks/results.js')
const HEAD = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: __dirname, encoding: 'utf8' }).trim()

describe('a complete result', () => {
  it('should have six rounds of two seconds of everything', () => {
    assert.deepEqual(lacks(complete()), [])
    assert.match(lacks(complete({ rounds: 5 })).join(), /it has 5 rounds, not 6 or more/)
    assert.match(lacks(complete({ seconds: 1 })).join(), /hello has rounds of 1 s, not 2 or more/)
    assert.match(lacks(complete({}, { skipped: [{ part: 'hello, wrk', reason: 'no time left' }] })).join(), /no time for hello, wrk/)
    assert.match(lacks(complete({}, { derived: { quick: true } })).join(), /--full/)
    const without = (...names) =>
      lacks(complete({}, { rejected: names.map(contender => ({ workload: 'pm2', contender, reason: 'it failed' })) }))
    assert.deepEqual(without('kone-pm2'), ['it has no kone-pm2 in pm2: it failed'])
    assert.deepEqual(without('sirv'), [])
    assert.deepEqual(without('koa', 'kone-pm2'), [], 'an app that does not run on this Node')
    assert.match(lacks(complete({}, { derived: { only: ['kone'] } })).join(), /only kone/)
  })

  it('should have three openings of very many connections, and six rounds of all else', () => {
    assert.deepEqual(lacks(complete({ rounds: 3 }, {}, { openings: 3 })), [])
    assert.match(lacks(complete({ rounds: 4 }, {}, { openings: 2 })).join(), /it has 4 rounds, not 6 or more/)
    const mixed = complete({ rounds: 5 })
    mixed.rows[0].openings = 3
    assert.match(lacks(mixed).join(), /it has 5 rounds, not 6 or more/)
  })

  it('should have fewer rounds where they were precise', () => {
    const few = complete({ rounds: 3 })
    for (const row of few.rows) row.isPrecise = true
    assert.deepEqual(lacks(few), [])
    delete few.rows[0].isPrecise
    assert.match(lacks(few).join(), /it has 3 rounds, not 6 or more/)
  })

  it('should be of a commit', () => {
    assert.match(lacks(complete({}, { commit: null })).join(), /its commit is not known/)
    assert.match(lacks(complete({}, { commit: { hash: HEAD, dirty: true } })).join(), /kone was not as in/)
  })

  it('should be measured on a quiet machine', () => {
    const changed = change => lacks(complete({}, { conditions: conditions(change) })).join()
    assert.match(changed({ others: 0.3 }), /other processes took 30.0 % of the machine/)
    assert.match(changed({ steal: 0.1 }), /the hypervisor took 10.0 %/)
    const machine = { cpu: 'Test CPU', cores: 2, kernel: 'Darwin 25' }
    assert.match(lacks(complete({}, { machine, conditions: conditions({ load: 20 }) })).join(), /the load average was 20.0/)
    assert.equal(changed({ load: 20 }), '', 'on Linux what others took is known, and the load is the lab itself')
    assert.match(lacks(complete({}, { conditions: [] })).join(), /load and steal were not recorded/)
  })

  it('should pass with one disturbed round', () => {
    const disturbed = conditions()
    disturbed[3].others = 0.9
    assert.deepEqual(lacks(complete({}, { conditions: disturbed })), [])
  })

  it('should be quiet in every part, and in every round of a part that has few', () => {
    const few = round => ({ part: 'many connections', round, load: 1.9, steal: 0, others: 0.01 })
    const parts = others => [...conditions(), ...conditions({ part: 'other' }), few(1), few(2), { ...few(3), others }]
    assert.deepEqual(lacks(complete({}, { conditions: parts(0.01) })), [])
    assert.deepEqual(lacks(complete({}, { conditions: parts(0.3) })),
      ['many connections: other processes took 30.0 % of the machine (5.0 % at most)'])

    const long = Array.from({ length: 4 }, (_, i) => conditions({ part: `part ${i}` })).flat()
    const half = [...long, ...conditions({ part: 'other' }).map((one, i) => ({ ...one, others: i < 4 ? 0.01 : 0.3 }))]
    assert.match(lacks(complete({}, { conditions: half })).join(), /^other: other processes took 15.5 %/)
    half.at(-1).others = 0.01
    assert.deepEqual(lacks(complete({}, { conditions: half })), [])
  })
})

describe('make results', () => {
  it('should copy what is complete, and refuse the rest with a line each', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-results-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const [out, results] = ['out', 'results'].map(name => path.join(folder, name))
    fs.mkdirSync(out)
    const put = (name, text) => fs.writeFileSync(path.join(out, `${name}.json`), text)
    put('battle.node20', JSON.stringify(complete()))
    put('front.node20', JSON.stringify(complete({ rounds: 3 }, { lab: 'front' })))
    put('broken', '{"lab": "battle",')
    put('other', '{"scores": [1]}')

    const { status, stdout, stderr } = spawnSync(process.execPath, [RESULTS, '--from', out, '--to', results], { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.equal(stdout, 'battle.node20.json is copied\n')
    const lines = stderr.trim().split('\n')
    assert.match(lines[0], /^broken.json is refused: .*JSON/)
    assert.match(lines[1], /^front.node20.json is refused: it has 3 rounds/)
    assert.equal(lines[2], 'other.json is refused: it is not the result of a lab: it has no rows (benchmarks/README.md)')
    assert.deepEqual(fs.readdirSync(results), ['battle.node20.json'])
    assert.equal(fs.readFileSync(path.join(results, 'battle.node20.json'), 'utf8'), stringify(parse(JSON.stringify(complete()))))
  })

  it('should refuse a figure of README that differs by more than a tenth from round to round, or ask why', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-results-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const one = complete()
    for (const row of one.rows) row.workload = 'hello, wrk'
    const koa = one.rows.find(({ contender, metric }) => contender === 'koa' && metric === 'cpu')
    const results = (last, ...args) => {
      koa.rounds = [...koa.rounds.slice(0, -1), last]
      fs.writeFileSync(path.join(folder, 'battle.node20.json'), JSON.stringify(one))
      return spawnSync(process.execPath, [RESULTS, '--from', folder, '--to', path.join(folder, 'to'), ...args], { encoding: 'utf8' })
    }
    assert.equal(results(9.8).status, 0)
    assert.match(results(9.4).stderr, /is refused: kone ÷ Koa in hello, wrk is 1\.01, in its rounds 1\.00 to 1\.14, more than 10\.0 % of it apart: .* --why/)
    assert.equal(results(9.4, '--why', 'a neighbour').status, 0)
    assert.equal(JSON.parse(fs.readFileSync(path.join(folder, 'to/battle.node20.json'))).derived.why, 'a neighbour')
  })

  it('should say when kone has changed since', t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-results-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const git = (...args) => execFileSync('git', args, { cwd: __dirname, encoding: 'utf8' }).trim()
    const before = git('rev-parse', `${git('log', '-1', '--no-merges', '--format=%H', '--', ':(glob,top)lib/**/*.js')}^`)
    const old = complete({}, { commit: { hash: before, dirty: false } })
    fs.writeFileSync(path.join(folder, 'battle.node20.json'), JSON.stringify(old))
    const { stderr } = spawnSync(process.execPath, [RESULTS, '--from', folder, '--to', folder], { encoding: 'utf8' })
    assert.match(stderr, new RegExp(`^battle.node20.json: commits of lib since ${before.slice(0, 7)}: \\d+; measure it again\n$`))
  })

  it('should refuse an unknown option with a sentence', () => {
    const { status, stderr } = spawnSync(process.execPath, [RESULTS, '--form', 'x'], { encoding: 'utf8' })
    assert.equal(status, 2)
    assert.match(stderr, /^results: .*--form/)
  })
})

function conditions (change) {
  return Array.from({ length: 8 }, (_, i) => ({ part: 'hello', round: i + 1, load: 1.9, steal: 0, others: 0.01, ...change }))
}

function complete ({ rounds = 8, seconds = 2 } = {}, { derived, ...changes } = {}, more = {}) {
  const load = { generator: 'wrk', connections: 50, seconds }
  const samples = Array.from({ length: rounds }, (_, i) => ({ cpu: 10 + i / 10, requestsPerSecond: 50_000, latencyMeanMs: 1 }))
  const names = ['node', 'koa', 'kone']
  return {
    lab: 'battle',
    date: '2026-11-21T12:00:00.000Z',
    node: 'v20.20.2',
    command: 'node benchmarks/labs/battle',
    commit: { hash: HEAD, dirty: false },
    machine: { cpu: 'Test CPU', cores: 2, kernel: 'Linux 6' },
    contenders: names.map(name => ({ name, version: '1.0.0' })),
    rows: names.flatMap(name => cellRows({ workload: 'hello', server: { name }, load, samples })).map(row => ({ ...row, ...more })),
    rejected: [],
    skipped: [],
    conditions: conditions(),
    derived: { quick: false, rounds, ...derived },
    ...changes
  }
}
