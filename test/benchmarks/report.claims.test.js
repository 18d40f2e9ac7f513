'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { check, checked, claims, loose, losses, missed, ofRun, tighten } = require('../../benchmarks/lib/report/claims')
const workloads = require('../../benchmarks/labs/dropin/workloads')
const { result } = require('./fixtures/labs')
const { battle } = require('./fixtures/results')

const claim = { says: 'c', lab: 'battle', workload: 'hello', contender: 'kone', to: 'node', atMost: { 26: 0.8 } }

describe('a claim', () => {
  const verdict = (changes, atMost = 1) => check({ ...claim, ...changes }, atMost, battle()).verdict

  it('should be supported when it is true in every round, or say by what it is', () => {
    assert.equal(verdict({}), 'supported')
    assert.equal(verdict({}, 0.62), 'by the median')
    assert.equal(verdict({}, 0.5), 'not supported')
  })

  it('should not be supported by rows that are not there', () => {
    assert.equal(check(claim, 1, undefined).verdict, 'not measured')
    assert.equal(verdict({ to: 'express' }), 'not measured')
    assert.equal(verdict({ workload: 'hello, wrk' }), 'not measured')
  })

  it('should be held against the rows of wrk where the workload was measured by it, too', () => {
    const one = result('battle')
    const slow = one.rows.find(({ workload, contender, metric }) => workload === 'hello' && contender === 'kone' && metric === 'cpu')
    slow.rounds = slow.rounds.map(() => 1000)
    const found = check(claim, 1, one)
    assert.deepEqual([found.verdict, found.row.generator, found.reference.generator], ['supported', 'wrk', 'wrk'])
    const without = { ...one, rows: one.rows.filter(({ workload }) => workload !== 'hello, wrk') }
    assert.deepEqual([check(claim, 1, without).verdict, check(claim, 1, without).row.generator], ['not supported', 'autocannon'])
  })

  it('should be held against no mixture of two generators', () => {
    const one = result('battle')
    one.rows = one.rows.filter(({ workload, contender }) => workload !== 'hello, wrk' || contender !== 'node')
    assert.equal(check(claim, 1, one).verdict, 'not measured')
  })

  it('should be held against the cheapest other framework, which node:http is not', () => {
    assert.equal(check({ ...claim, to: 'others' }, 1, battle()).reference.contender, 'koa')
  })

  it('should divide one workload by another', () => {
    const { spread } = check({ ...claim, workload: 'template', to: 'kone', toWorkload: 'plain' }, 1, result('mw'))
    assert.deepEqual(spread.rounds, Array(8).fill(1))
  })

  it('should have a threshold for each version of Node, held against the result on it', () => {
    const list = checked([result('battle'), result('battle', { node: 20, cost: 30 })], [{ ...claim, atMost: { 20: 0.7, 26: 0.8 } }])
    assert.deepEqual(list.map(({ on, atMost, verdict }) => [on, atMost, verdict]), [[20, 0.7, 'not supported'], [26, 0.8, 'supported']])
  })

  it('should be listed whether measured or not: not supported first, not measured last', () => {
    const all = checked([])
    assert.ok(all.length >= claims().length)
    assert.ok(all.every(({ verdict }) => verdict === 'not measured'))
    const order = checked([result('battle', { cost: 39 }), result('rpc')]).map(({ verdict }) => verdict)
    const groups = order.filter((verdict, i) => verdict !== order[i - 1])
    assert.deepEqual(groups, ['not supported', 'supported', 'not measured'])
  })

  it('should be checked against one run of its lab, on any version of Node', () => {
    const run = ofRun(result('battle', { node: 24 }))
    const threshold = name => Math.max(...Object.values(claims().find(({ lab, to }) => lab === 'battle' && to === name).atMost))
    assert.deepEqual(run.map(({ to }) => to).sort(), ['koa', 'node', 'others'])
    for (const { to, on, atMost } of run) assert.deepEqual([on, atMost], [24, threshold(to)])
  })
})

describe('the claims', () => {
  it('should be whole sentences of claims.json, each once', () => {
    const all = claims()
    for (const { says, lab, workload, contender, to, atMost } of all) {
      assert.ok([says, lab, workload, contender, to].every(text => typeof text === 'string' && text), says)
      assert.ok(Object.values(atMost).every(value => value > 0 && value <= 1.25), says)
    }
    assert.equal(new Set(all.map(({ says }) => says)).size, all.length)
  })

  it('should be at most what the issue of the lab asks for, on Node 20 and 26', () => {
    const aims = {
      'battle hello node': [0.70, 0.89],
      'battle hello koa': [0.47, 0.63],
      'static 13 B, 64 connections node': [0.65, 0.80],
      'rpc ping, 50 in flight node': [0.75, 0.85],
      'rpc ping, 50 in flight node-hessian': [0.75, 0.85],
      'rpc noError, 50 in flight kone-unguarded': [1.10, 1.10],
      'mw plain koa': [0.28, 0.28],
      'mw template koa': [0.155, 0.155],
      'mw static alone kone': [1.12, 1.12],
      'dropin ctx.res.setHeader koa': [0.62, 0.68],
      "dropin ctx.res.once('finish') koa": [0.50, 0.60],
      'dropin API koa': [0.58, 0.60],
      'dropin API, POST koa': [0.42, 0.42],
      'dropin pino-http koa': [0.65, 0.65],
      'dropin page koa': [0.68, 0.70],
      'dropin koa-static, 1 KB koa': [0.75, 0.75],
      'dropin koa-static, 64 KB koa': [0.65, 0.70],
      'dropin Readable.from koa': [0.55, 0.60],
      'dropin OpenTelemetry koa': [0.75, 0.75],
      'dropin pm2 koa': [0.55, 0.62],
      'dropin https koa': [0.48, 0.45],
      'dropin ctx.res touched kone-node': [0.72, 0.78],
      'front hello node': [0.65, 0.78],
      'front hello koa': [0.47, 0.57],
      'front browser node': [0.55, 0.68],
      'front json node': [0.68, 0.80],
      'front pipelined 16 node': [0.20, 0.20],
      'front json, TLS koa': [0.48, 0.45],
      'front idle node': [0.65, 0.50]
    }
    const made = new Map(claims().map(({ lab, workload, to, atMost }) => [`${lab} ${workload} ${to}`, atMost]))
    for (const [name, [twenty, newest]] of Object.entries(aims)) {
      assert.ok(made.get(name)?.[20] <= twenty && made.get(name)?.[26] <= newest, `${name}: ${JSON.stringify(made.get(name))}`)
    }
  })

  it('should have one for each workload of dropin', () => {
    const made = claims().filter(({ lab }) => lab === 'dropin').map(({ workload, to }) => `${workload} ${to}`)
    assert.deepEqual(made.sort(), workloads.map(({ workload, to }) => `${workload} ${to}`).sort())
  })

  for (const lab of ['dropin', 'front', 'mw', 'rpc', 'static']) {
    it(`should be the thresholds that ${lab} itself shows`, () => {
      const { view } = require(`../../benchmarks/labs/${lab}`)
      for (const node of [20, 26]) {
        const run = result(lab, { node })
        Object.assign(run.derived, { about: {}, responseTimes: {}, workloads: [] })
        view(run)
        const shown = run.derived.targets.filter(({ target, median }) => target && median)
        const claimed = claims().filter(one => one.lab === lab && check(one, 1, run).spread)
        assert.ok(claimed.length > 0)
        for (const { says, atMost } of claimed) {
          assert.ok(shown.some(({ target }) => target === atMost[node]), `${says}: ${atMost[node]}`)
        }
        if (lab === 'front') assert.deepEqual(shown.map(({ target }) => target).sort(), claimed.map(({ atMost }) => atMost[node]).sort())
      }
    })
  }
})

describe('a threshold', () => {
  const of = (atMost, changes) => loose([result('battle', changes)], [{ ...claim, atMost: { 26: atMost } }]).map(({ to }) => to)

  it('should follow a result that is better by more than a tenth in its worst round', () => {
    assert.deepEqual(of(0.8), [0.55]) // the ratio is 0.5
    assert.deepEqual(of(0.55), [])
    assert.deepEqual(of(0.52), [])
  })

  it('should not be loosened, nor follow a quick run, few rounds or another Node', () => {
    assert.deepEqual(of(0.4), [])
    assert.deepEqual(of(0.8, { node: 20 }), [])
    const quick = result('battle')
    quick.derived.quick = true
    assert.deepEqual(loose([quick], [claim]), [])
    const few = result('battle')
    for (const row of few.rows) row.rounds = row.rounds.slice(0, 4)
    assert.deepEqual(loose([few], [claim]), [])
  })

  it('should be tightened in the file, and then be tight', () => {
    const folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-claims-'))
    const file = path.join(folder, 'claims.json')
    fs.writeFileSync(file, JSON.stringify([{ ...claim, atMost: { 20: 0.7, 26: 0.8 } }]))
    const [{ says, on, from, to, worst }] = tighten([result('battle')], file)
    assert.deepEqual([says, on, from, to, worst], ['c', 26, 0.8, 0.55, 0.5])
    assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8'))[0].atMost, { 20: 0.7, 26: 0.55 })
    assert.deepEqual(tighten([result('battle')], file), [])
    fs.rmSync(folder, { recursive: true })
  })
})

describe('losses', () => {
  it('should be every contender that costs less, the greatest first', () => {
    const one = battle()
    one.rows.find(({ contender }) => contender === 'kone').rounds = [24, 25, 26]
    assert.deepEqual(losses(one).map(({ other }) => other.contender), ['node', 'koa'])
    assert.deepEqual(losses(battle()), [])
  })

  it('should be targets that were missed', () => {
    const targets = [{ what: 'a', target: 1, median: 1.1 }, { what: 'b', target: 1, median: 0.9 }, { what: 'c', median: 5 }, { what: 'd', target: 1 }]
    assert.deepEqual(missed({ derived: { targets } }).map(({ what }) => what), ['a'])
    assert.deepEqual(missed({}), [])
  })
})
