'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { bars, lines, scale } = require('../../benchmarks/lib/report/chart')
const { index } = require('../../benchmarks/lib/report/site')
const { indexed, viewOf } = require('../../benchmarks/lib/report/view')
const { problems } = require('../../benchmarks/lib/run/result')
const { battle, growth } = require('./fixtures/results')

describe('the index of the HTML pages', () => {
  it('should open with the claims and print what is lost', () => {
    const result = battle()
    result.derived.targets = [{ what: 'hello <b> ÷ node', target: 0.5, median: 0.61, min: 0.6, max: 0.63 }]
    const html = index([result])
    assert.match(html, /target missed: hello &lt;b&gt; ÷ node/)
    assert.match(html, /<a href="battle\.node20\.html">/)
    assert.ok(html.indexOf('bare node:http') < html.indexOf('What is lost'), 'it opens with the claims')
    assert.ok(html.indexOf('class="no"') < html.indexOf('class="open"'), 'what is not supported is first')
  })
})

describe('a view', () => {
  it('should name the rows of its charts, and find them again', () => {
    const result = battle()
    const chart = { rows: [result.rows[1], result.rows[0]], caption: 'c' }
    result.derived.view = JSON.parse(JSON.stringify(indexed(result, { title: 't', sections: [{ heading: 'h', chart }] })))
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
