'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const parseRange = require('../../middleware/static/range')
const { random } = require('../helpers/random')

// The grammar as one expression: cubic in blanks, so only for short text.
const GRAMMAR = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i
const PIECES = ['bytes', 'Bytes', 'byte', '=', '-', ' ', '\t', '\xa0', '0', '1', '99', ',', 'x', '\u0661']

describe('the parser of Range', () => {
  it('should read what the grammar allows, and nothing else', () => {
    let ranges = 0
    for (let seed = 1; seed <= 50_000; seed++) {
      const rnd = random(seed)
      const junk = () => rnd.chance(0.3) ? rnd.pick(PIECES) : ''
      const parts = ['bytes', '=', rnd.pick(['', '0', '12']), '-', rnd.pick(['', '7', '345'])]
      const header = junk() + parts.map(part => (rnd.chance(0.05) ? '' : part) + junk()).join('')
      const found = GRAMMAR.exec(header)
      if (found !== null) ranges++
      const expected = found === null ? undefined : { first: found[1], last: found[2] }
      assert.deepEqual(parseRange(header), expected, JSON.stringify(header))
    }
    assert(ranges > 5000)
  })
})
