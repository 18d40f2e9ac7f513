'use strict'

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { conclusion, verdict } = require('../../benchmarks/labs/compare/view')
const { sides } = require('../../benchmarks/labs/compare/revisions')

const ratio = (...rounds) => ({ min: Math.min(...rounds), max: Math.max(...rounds), rounds })
const better = ratio(0.9, 0.92, 0.95, 0.97, 0.9, 0.99)
const worse = ratio(1.1, 1.01, 1.2, 1.1, 1.1, 1.1)
const equal = ratio(0.9, 0.92, 0.95, 0.97, 0.9, 1.01)

describe('the verdict of a comparison', () => {
  it('should be a difference only where every round has it', () => {
    assert.equal(verdict(better), 'better')
    assert.equal(verdict(worse), 'worse')
    assert.equal(verdict(equal), 'no difference')
  })

  it('should not be given after few rounds, or none', () => {
    assert.equal(verdict(ratio(0.5, 0.5, 0.5)), 'too few rounds')
    assert.equal(verdict(null), 'not measured')
  })

  it('should accept what is better somewhere and worse nowhere', () => {
    assert.match(conclusion([better, equal]), /^accept: better in 1 of 2/)
    assert.match(conclusion([better, worse]), /^reject: worse in 1 of 2/)
    assert.match(conclusion([equal, equal]), /^no difference/)
    assert.match(conclusion([ratio(0.5, 0.5, 0.5)]), /^no verdict: it takes 6/)
  })
})

describe('the revisions of a comparison', () => {
  it('should be one against the checkout, or two', () => {
    assert.deepEqual(sides('main~1'), { before: 'main~1', after: null })
    assert.deepEqual(sides('v2.16..v2.17'), { before: 'v2.16', after: 'v2.17' })
    assert.deepEqual(sides('main..'), { before: 'main', after: null })
  })

  it('should be refused with a sentence when there is no such one', () => {
    const file = path.join(__dirname, '../../benchmarks/labs/compare/index.js')
    const { status, stderr } = spawnSync(process.execPath, [file, '--quick', '--ref=no-such'], { encoding: 'utf8' })
    assert.equal(status, 2)
    assert.match(stderr, /^compare: no-such is no revision of .*\n$|^compare: git is missing/m)
  })
})
