'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const share = require('../../helpers/share')
const { smaller } = require('../../helpers/shrink')
const { RULES, generate, randomCases, run, table } = require('./late-touch')

const { KONE_FRONT, KONE_MUTANTS } = process.env

/** Every so many-th case of the table: no divisor of the numbers of touches and moments, so that each comes with most others. */
const STEP = KONE_MUTANTS || KONE_FRONT ? 53 : share(11, 1)

/** The same in every run; `late-touch.js --seconds 300` runs others. */
const RANDOM = { seed: 1, cases: KONE_MUTANTS || KONE_FRONT ? 30 : share(150, 800) }

async function passes (t, cases, shrinks = false) {
  const { failures, pairs, cases: count } = await run({ cases, failures: 3, shrinks })
  t.diagnostic(`${count} cases, ${pairs}`)
  assert(failures.length === 0, failures.join('\n\n'))
}

describe('the generator of late touches', () => {
  it('should make the same case of the same seed, and smaller ones', () => {
    assert.deepEqual(generate(7), generate(7))
    assert.notDeepEqual(generate(7), generate(8))
    const size = JSON.stringify(generate(7)).length
    for (const next of smaller(generate(7), RULES)) assert(JSON.stringify(next).length <= size)
  })
})

describe('a response that other code touches late', () => {
  const cases = [...table()].filter((plan, i) => i % STEP === 0)

  for (const response of new Set(cases.map(({ response }) => response))) {
    it(`should be whole, and its connection go on: ${response}, each touch at each moment`, t => {
      return passes(t, cases.filter(plan => plan.response === response))
    })
  }

  it('should be so for several touches, readers and bodies of requests at random', t => {
    return passes(t, randomCases(RANDOM.seed, RANDOM.cases), true)
  })
})
