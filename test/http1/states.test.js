'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { NAMES, Outgoing } = require('../../lib/http1/output/outgoing')
const { rows } = require('./readme')

// Whether a response in one state may change to another.
function isAllowed (from, to) {
  const outgoing = Object.assign(Object.create(Outgoing.prototype), { state: NAMES.indexOf(from) })
  try {
    outgoing.become(NAMES.indexOf(to))
  } catch (err) {
    assert.equal(err.message, `a response went from ${from} to ${to}`)
    return false
  }
  return true
}

// `OPEN to WRITTEN` are the states between, too.
function statesOf (cell) {
  const [first, last = first] = cell.split(' to ').map(name => NAMES.indexOf(name))
  assert(first !== -1 && last !== -1, `${cell} names no states`)
  return NAMES.slice(first, last + 1)
}

describe('the states of a response', () => {
  it('should change as the table in lib/http1/README.md says, and not otherwise', () => {
    const documented = rows('The life of a response', 'from').flatMap(([from, to]) => statesOf(from).map(name => `${name} → ${to}`))
    const pairs = NAMES.flatMap(from => NAMES.map(to => [from, to]))
    const allowed = pairs.filter(([from, to]) => isAllowed(from, to)).map(pair => pair.join(' → '))

    assert.deepEqual(allowed.sort(), documented.sort())
  })
})
