'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { bars, lines, scale } = require('../../benchmarks/lib/report/chart')
const { check, checked, losses, missed } = require('../../benchmarks/lib/report/claims')
const { fill, index } = require('../../benchmarks/lib/report/site')
const { keep, viewOf } = require('../../benchmarks/lib/report/view')
const { problems } = require('../../benchmarks/lib/run/result')
const { battle, growth } = require('./fixtures/results')

const claim = { lab: 'battle', workload: 'hello', metric: 'cpu', contender: 'kone', to: 'node', atMost: 1 }

describe('a claim', () => {
  const verdict = changes => check({ ...claim, ...changes }, { battle: battle() }).verdict

  it('should be supported by the median and every round, or say so', () => {
    assert.equal(verdict({}), 'supported')
    assert.equal(verdict({ atMost: 0.62 }), 'by the median')
    assert.equal(verdict({ atMost: 0.5 }), 'not supported')
  })

  it('should not be supported by rows that are not there', () => {
    assert.equal(verdict({ lab: 'front' }), 'not measured')
    assert.equal(verdict({ to: 'express' }), 'not measured')
    assert.equal(verdict({ workload: 'hello, wrk' }), 'not measured')
  })

  it('should be held against the cheapest other framework, which node:http is not', () => {
    assert.equal(check({ ...claim, to: 'others' }, { battle: battle() }).reference.contender, 'koa')
  })

  it('should be listed whether measured or not', () => {
    assert.equal(checked({}).length, checked({ battle: battle() }).length)
    assert.ok(checked({}).every(({ verdict }) => verdict === 'not measured'))
  })
})

describe('losses', () => {
  it('should be every contender that costs less, the greatest first', () => {
    const result = battle()
    result.rows.find(({ contender }) => contender === 'kone').rounds = [24, 25, 26]
    assert.deepEqual(losses(result).map(({ other }) => other.contender), ['node', 'koa'])
    assert.deepEqual(losses(battle()), [])
  })

  it('should be targets that were missed', () => {
    const targets = [{ what: 'a', target: 1, median: 1.1 }, { what: 'b', target: 1, median: 0.9 }, { what: 'c', median: 5 }, { what: 'd', target: 1 }]
    assert.deepEqual(missed({ derived: { targets } }).map(({ what }) => what), ['a'])
    assert.deepEqual(missed({}), [])
  })

  it('should be printed on the index', () => {
    const result = battle()
    result.derived.targets = [{ what: 'hello <b> ÷ node', target: 0.5, median: 0.61, min: 0.6, max: 0.63 }]
    const html = index({ battle: result })
    assert.match(html, /target missed: hello &lt;b&gt; ÷ node/)
    assert.match(html, /<a href="battle.html">/)
    assert.ok(html.indexOf('bare node:http') < html.indexOf('What is lost'), 'it opens with the claims')
  })
})

describe('the tables of the README', () => {
  const text = 'before\n<!-- battle -->\nold\n<!-- /battle -->\nafter\n'

  it('should be those of the result, cheapest first, with where and how', () => {
    const filled = fill(text, { battle: battle() })
    assert.match(filled, /^before\n<!-- battle -->\n\| hello \(wrk, 50 connections\) \| requests\/s /)
    assert.match(filled, /\| kone 1\.2\.3 \| 1,000 \| 11\.0 \| 10\.0–12\.0 \| 0\.61 \| 0\.48 \|\n\| node /)
    assert.match(filled, /AMD EPYC, 2 cores.*quick: a first look, not a result.*\n<!-- \/battle -->\nafter\n$/)
    assert.doesNotMatch(filled, /old/)
  })

  it('should be the same when written twice', () => {
    const once = fill(text, { battle: battle() })
    assert.equal(fill(once, { battle: battle() }), once)
  })

  it('should say what was rejected', () => {
    const rejected = [{ workload: 'hello', contender: 'toa', reason: '3 errors in 10 requests' }]
    assert.match(fill(text, { battle: battle({ rejected }) }), /toa was rejected in hello: 3 errors/)
  })

  it('should refuse a text without their marks', () => {
    assert.throws(() => fill('nothing', { battle: battle() }), /no <!-- NAME -->/)
    assert.throws(() => fill('<!-- battle -->', { battle: battle() }), /<!-- \/battle --> is missing/)
  })
})

describe('a view', () => {
  it('should name the rows of its charts, and find them again', () => {
    const result = battle()
    const chart = { rows: [result.rows[1], result.rows[0]], caption: 'c' }
    result.derived.view = JSON.parse(JSON.stringify(keep(result, { title: 't', sections: [{ heading: 'h', chart }] })))
    assert.deepEqual(result.derived.view.sections[0].chart.rows, [1, 0])
    assert.deepEqual(viewOf(result).sections[0].chart, chart)
  })

  it('should do the same for lines', () => {
    const result = growth()
    const { points } = viewOf(result).sections[0].chart.series[1]
    assert.deepEqual(points.map(({ x, row }) => [x, row.contender]), [[1, 'koa'], [10, 'koa'], [100, 'koa']])
    assert.deepEqual(problems(result), [])
  })

  it('should be made of the rows where the lab has kept none', () => {
    const [{ heading, chart, table }] = viewOf(battle()).sections
    assert.equal(heading, 'hello: cpu')
    assert.deepEqual(chart.rows.map(({ contender }) => contender), ['kone', 'node', 'koa', 'trek-engine'])
    assert.equal(table.length, 5)
  })
})

describe('a chart', () => {
  it('should have an error bar for every figure', () => {
    const { rows } = battle()
    assert.equal(bars(rows, 'c').match(/<line /g).length, rows.length * 3)
    const [{ chart }] = viewOf(growth()).sections
    assert.equal(lines(chart).match(/<line class="error"/g).length, 6)
  })

  it('should keep every point inside', () => {
    const [{ chart }] = viewOf(growth()).sections
    const at = [...lines(chart).matchAll(/<circle cx="([\d.]+)%" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)])
    assert.equal(at.length, 6)
    for (const [x, y] of at) assert.ok(x >= 10 && x <= 100 && y >= 0 && y <= 280, `${x} ${y}`)
  })

  it('should give kone its color wherever it stands, and no two lines the same look', () => {
    const [{ chart }] = viewOf(growth()).sections
    const names = ['node', 'koa', 'go', 'nginx', 'kone', 'kone-cluster', 'node-cluster']
    const svg = lines({ ...chart, series: names.map(name => ({ ...chart.series[0], name })) })
    const looks = [...svg.matchAll(/<li class="([^"]+)">([^<]+)/g)].map(([, look]) => look)
    assert.equal(looks[4], 'series s0')
    assert.equal(new Set(looks).size, names.length)
  })

  it('should count in round steps', () => {
    assert.deepEqual(scale([0, 97], { zero: true }).ticks, [0, 20, 40, 60, 80, 100])
    assert.deepEqual(scale([1, 10_000], { log: true }).ticks, [1, 10, 100, 1000, 10_000])
    assert.equal(scale([5], {}).share(5), 0)
    assert.equal(scale([0, 1, 2], { names: ['a', 'b'] }).share(0), 0.25)
  })
})
