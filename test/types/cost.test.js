'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { check } = require('../../benchmarks/labs/types/typed-routes')

// TypeScript's own counters: the same on every machine. `make bench-types` has the times.
describe('the cost of a route to the compiler', () => {
  it('should be below 200 instantiations, and not grow with the number of routes', () => {
    const [one, hundred, more] = [1, 100, 200].map(n => check('kone', n).instantiations)
    assert((hundred - one) / 99 < 200, `${one}, ${hundred}`)
    assert((more - hundred) / 100 < 200, `${hundred}, ${more}`)
  })
})
