'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const { row } = require('../../benchmarks/lib/run/result')
const Server = require('../../benchmarks/lib/servers/server')
const rest = require('./real/apps/rest')
const { cost, loader } = require('./real/cost')
const { PAGE, RESULTS, merge, read } = require('./real/results')
const { page, table } = require('./real/table')

const APPS = fs.readdirSync(path.join(__dirname, 'real/apps')).filter(file => file.endsWith('.js')).map(file => path.parse(file).name)
const MACHINE = { cpu: 'CPU', cores: 2, kernel: 'Linux 6' }
const QUIET = { load: 1, steal: 0, others: 0.01 }

describe('the page of real applications', () => {
  const results = read()

  it('should be made of the committed results', () => {
    assert.equal(fs.readFileSync(PAGE, 'utf8'), page(results), `${path.basename(RESULTS)} and README.md are of different runs`)
  })

  it('should have every app, compared and measured in at least eight rounds', () => {
    assert.deepEqual(results.map(({ name }) => name).sort(), APPS)
    for (const { name, responses, same, cost } of results) {
      assert(same && responses > 0, `${name} is not compared: make compat ARGS=${name}`)
      assert(cost, `${name} is not measured: make compat ARGS=${name}`)
      assert.deepEqual(cost.rejected, [], name)
      assert(cost.rounds >= 8 && cost.seconds >= 2, name)
      assert.equal(cost.conditions.length, cost.rounds, name)
      for (const { rounds } of cost.rows) assert.equal(rounds.length, cost.rounds, name)
    }
  })

  it('should have no empty cell', () => {
    for (const line of table(results).split('\n').slice(2)) assert.doesNotMatch(line, /\|\s*\|/)
  })
})

describe('the table of real applications', () => {
  it('should have both medians and the ratio of the rounds', () => {
    assert.equal(lastLine(result()), '| An app | a 1.0.0, b 2.0.0 | 2.16.4 | 7 same | 200 | 100 | 0.50 (0.40–0.60) |')
  })

  it('should say why there is no figure', () => {
    const { cost, ...compared } = result()
    const rejected = { ...cost, rejected: [{ contender: 'kone', reason: '3 errors | 9' }] }
    for (const [one, cells] of [
      [{ name: 'app', title: 'An app' }, '– | – | not compared yet: `make compat ARGS=app` | – | – | not measured yet: `make compat ARGS=app` |'],
      [compared, '7 same | – | – | not measured yet: `make compat ARGS=app` |'],
      [{ ...compared, same: false, differs: 2 }, 'number 3 differs | – | – | not measured: the responses differ |'],
      [{ ...compared, same: false, error: 'no | port' }, 'fails: no / port | – | – | not measured: it fails |'],
      [{ ...compared, cost: rejected }, '7 same | – | – | not measured: kone, 3 errors / 9 |']
    ]) assert(lastLine(one).endsWith(`| ${cells}`), lastLine(one))
  })

  it('should say when, where and how the apps were measured', () => {
    const text = page([result()])
    assert.match(text, /^- Measured on 2026-01-02, Node 26\.1\.0, commit 0123456, 2 × CPU, Linux 6; 3 rounds of 2 s by wrk, 8 connections\./m)
    assert.match(text, /The machine was quiet \(medians of the rounds: other processes took 1\.0 % of it, the hypervisor 0\.0 %, load average 1\.0\)/)
    assert.match(text, /^- An app: koa, the load generator was the limit; kone, the hypervisor took 9 %\.$/m)
  })

  it('should say that the machine was busy', () => {
    const { cost, ...compared } = result()
    const text = page([{ ...compared, cost: { ...cost, conditions: [{ ...QUIET, others: 0.3 }] } }])
    assert.match(text, /The machine was not quiet, compare the two columns only: other processes took 30\.0 % of the machine/)
  })

  it('should name an app in whose rounds the machine was busy', () => {
    const { cost, ...compared } = result()
    const busy = { ...compared, title: 'Busy', cost: { ...cost, conditions: [{ ...QUIET, others: 0.3 }] } }
    assert.match(page([result(), result(), result(), busy]), /The machine was not quiet in the rounds of Busy \(medians/)
  })

  it('should name the apps of each run if there were several', () => {
    const { cost, ...compared } = result()
    const later = { ...compared, title: 'Later', cost: { ...cost, date: '2026-01-03T00:00:00.000Z', commit: null } }
    const text = page([result(), later, { ...result(), title: 'Third' }])
    assert.match(text, /^- An app; Third: measured on 2026-01-02, /m)
    assert.match(text, /^- Later: measured on 2026-01-03, Node 26\.1\.0, an unknown commit, /m)
  })
})

describe('results of real applications', () => {
  it('should keep those of the apps that did not run, in the order of the page', () => {
    const apps = [
      { name: 'last', title: 'Last', order: 1 },
      { name: 'b', title: 'B' },
      { name: 'a', title: 'New title' },
      { name: 'never', title: 'Never' }
    ]
    const earlier = [{ name: 'a', title: 'Old title', responses: 1 }, { name: 'b', responses: 2 }, { name: 'gone', responses: 3 }]
    const fresh = [{ name: 'b', responses: 4 }, { name: 'last', responses: 5 }]
    const merged = merge(apps, fresh, earlier)
    assert.deepEqual(merged.map(({ name }) => name), ['a', 'b', 'never', 'last'])
    assert.deepEqual(merged.map(({ responses }) => responses), [1, 4, undefined, 5])
    assert.equal(merged[0].title, 'New title')
  })
})

describe('what a request costs a real application', () => {
  const file = path.join(__dirname, 'fixtures/real-app.js')
  const node = process.execPath
  const serve = (name, flags) => Server.start({ name, file, args: ['rest'] }, { node, flags })

  it('should be measured in the rounds of the lab, on koa and on kone', async () => {
    const load = loader({ rounds: 3, node, seconds: 1 })
    const servers = await Promise.all([serve('koa', []), serve('kone', ['--require', require.resolve('./koa-is-kone')])])
    try {
      const got = await cost({ name: 'rest', load: rest.load }, servers, load)
      assert.deepEqual(got.rejected, [])
      assert.deepEqual(got.conditions.map(({ round }) => round), [1, 2, 3])
      const cpu = got.rows.filter(({ metric }) => metric === 'cpu')
      assert.deepEqual(cpu.map(({ workload, contender, unit, seconds }) => [workload, contender, unit, seconds]),
        [['rest', 'koa', 'µs/request', 1], ['rest', 'kone', 'µs/request', 1]])
      assert.equal(got.generator, load.generator)
      for (const { rounds } of got.rows) assert(rounds.length === 3 && rounds.every(figure => figure > 0))
      assert.equal(got.node, process.version)
      const wrong = cost({ name: 'rest', load: { ...rest.load, status: 418 } }, servers, load)
      await assert.rejects(wrong, /^Error: \w+ \/\S*: \d{3} /)
    } finally {
      load.stop()
      await Promise.all(servers.map(server => server.stop()))
    }
  })
})

describe('make compat', () => {
  for (const [args, reason] of [
    ['rset', 'no such app: rset; expected conditional, '],
    ['rest --rounds=2', '--rounds must be a whole number of at least 3, not 2'],
    ['--rounds=many', '--rounds must be a whole number of at least 3, not many'],
    ['--node=/nowhere/node', '--node must be a major version or a binary that runs here'],
    ['--laod', "Unknown option '--laod'"]
  ]) {
    it(`should refuse ${args} with one line`, () => {
      const command = [path.join(__dirname, 'real/run.js'), ...args.split(' ')]
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
      assert.equal(status, 2)
      assert.equal(stdout, '')
      assert(stderr.startsWith('compat: ') && stderr.includes(reason), stderr)
      assert.equal(stderr.trim().split('\n').length, 1)
      assert.match(stderr, /README\.md\)\n$/)
    })
  }
})

const lastLine = one => table([one]).split('\n').at(-1)

function result () {
  const side = (contender, rounds) => row({ workload: 'app', contender, metric: 'cpu', unit: 'µs/request' }, rounds)
  return {
    name: 'app',
    title: 'An app',
    koa: '2.16.4',
    packages: ['a 1.0.0', 'b 2.0.0'],
    responses: 7,
    same: true,
    cost: {
      date: '2026-01-02T03:04:05.678Z',
      node: 'v26.1.0',
      commit: { hash: '0123456789', dirty: false },
      machine: MACHINE,
      rounds: 3,
      generator: 'wrk',
      connections: 8,
      seconds: 2,
      conditions: [QUIET, QUIET, QUIET],
      rows: [side('koa', [200, 250, 100]), side('kone', [100, 100, 60])],
      rejected: [],
      discarded: [],
      remarks: [
        { contender: 'koa', remark: 'the load generator was the limit' },
        { contender: 'kone', remark: 'the hypervisor took 9 %' }
      ]
    }
  }
}
