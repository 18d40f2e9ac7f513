'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { contenders } = require('../../benchmarks/labs/connections')
const { doubt, levelsOf, sized } = require('../../benchmarks/labs/connections/levels')
const { openingsOf } = require('../../benchmarks/lib/run/connections')
const { extra } = require('../../benchmarks/lib/servers/program')

const LIMIT = 20_000
const of = name => contenders.find(one => one.name === name)

describe('the levels of connections', () => {
  it('should reach the 100,000 of the report with --all, alone or in a first look', () => {
    assert.equal(levelsOf({}).at(-1), 50_000)
    assert.deepEqual(levelsOf({ quick: true }), [1000, 10_000])
    for (const quick of [true, false]) {
      const levels = levelsOf({ quick, all: true })
      assert.equal(levels.at(-1), 100_000)
      assert.deepEqual(levels, [...levels].sort((a, b) => a - b))
    }
  })
})

describe('a visit of connections', () => {
  it('should be discarded for errors, for connections that broke, and for memory that did not grow', () => {
    const sample = { requests: 100, errors: 0, requestsPerSecond: 100, latencyMeanMs: 1 }
    const visit = { paced: [sample], closed: [sample], memory: 1000, accept: 20, reconnects: 0 }
    const doubts = changes => doubt({ connections: 1000 }, { ...visit, ...changes })
    assert.equal(doubts(), null)
    assert.equal(doubts({ closed: [sample, { ...sample, errors: 1 }] }), '1 errors in 101 requests')
    assert.equal(doubts({ reconnects: 3 }), '3 connections broke')
    assert.equal(doubts({ memory: -1 }), 'its memory did not grow')
  })
})

describe('the openings of connections', () => {
  it('should be one for each round up to 10,000', () => {
    assert.deepEqual(openingsOf(10_000, 8), { openings: 8, each: 1 })
  })

  it('should be three above, with as many rounds as were requested at least', () => {
    for (const rounds of [3, 8, 9]) {
      const { openings, each } = openingsOf(20_000, rounds)
      assert.equal(openings, 3)
      assert.ok(openings * each >= rounds && openings * (each - 1) < rounds, `${rounds} rounds`)
    }
  })
})

describe('a contender of connections', () => {
  it('should have as many workers as 100,000 connections need', () => {
    for (const name of ['kone-cluster', 'node-cluster', 'koa-cluster']) {
      const { workers } = sized(of(name), 100_000, LIMIT)
      assert.ok(100_000 / workers < LIMIT, `${workers} workers of ${name}`)
    }
    const { given } = sized({ name: 'nginx' }, 100_000, LIMIT)
    assert.ok(100_000 / given.workers < LIMIT)
  })

  it('should be left out with the reason where one process is too few', () => {
    assert.match(sized(of('kone'), 50_000, LIMIT), /one process here, and one may open 20000 files/)
    assert.equal(sized(of('kone'), 10_000, LIMIT), of('kone'))
    assert.match(sized(of('koa-cluster'), 10_000, LIMIT), /holds so many/)
  })

  it('should get the number of workers it needs where a command of EXTRA takes that', () => {
    const [told, single] = extra('a=./a $PORT $WORKERS\nb=./b $PORT')
    assert.ok(sized(told, 50_000, LIMIT).given.workers >= 3)
    assert.match(sized(single, 50_000, LIMIT), /one process/)
    assert.equal(sized(single, 1000, LIMIT), single)
  })
})
