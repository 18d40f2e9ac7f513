'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { smaller } = require('../../helpers/shrink')
const { framing } = require('./framing')
const grammar = require('./grammar')
const { model } = require('./output.model')
const plan = require('./siege/plan')

const GENERATORS = { 'the fuzzer': grammar, framing, 'the model': model(), 'the siege': plan }

for (const [name, { generate, RULES }] of Object.entries(GENERATORS)) {
  describe(`a case of ${name}`, () => {
    it('should be the same from the same seed, and another from another', () => {
      assert.deepEqual(generate(7), generate(7))
      assert.notDeepEqual(generate(7), generate(8))
    })

    it('should only become smaller by shrinking', () => {
      const size = JSON.stringify(generate(3)).length
      for (const next of smaller(generate(3), RULES)) assert(JSON.stringify(next).length <= size + 10)
    })
  })
}
