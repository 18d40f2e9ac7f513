'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { Body, NAMES: BODIES } = require('../../../lib/front/input/body')
const { Gate, BODY, FULL, MANY, HANDOVER, CLOSE, READ } = require('../../../lib/front/input/gate')
const { Reader } = require('../../../lib/front/input/reader')
const { NAMES, Outgoing } = require('../../../lib/engines/contract')
const { rows } = require('./readme')

// `OPEN to WRITTEN` are the states between, too.
function statesOf (cell) {
  const [first, last = first] = cell.split(' to ').map(name => NAMES.indexOf(name))
  assert(first !== -1 && last !== -1, `${cell} names no states`)
  return NAMES.slice(first, last + 1)
}

describe('the states of a response', () => {
  it('should change as the table in lib/front/README.md says, and not otherwise', () => {
    const documented = rows('The life of a response', 'from').flatMap(([from, to]) => statesOf(from).map(name => `${name} → ${to}`))
    isAsDrawn('a response', Outgoing, NAMES, documented)
  })
})

/** That `Class` allows the changes of state in `drawn`, and no other. */
function isAsDrawn (what, Class, names, drawn) {
  for (const from of names) {
    for (const to of names) {
      const one = Object.assign(Object.create(Class.prototype), { state: names.indexOf(from) })
      const change = () => one.become(names.indexOf(to))
      if (drawn.includes(`${from} → ${to}`)) change()
      else assert.throws(change, failure(`${what} went from ${from} to ${to}`))
    }
  }
}

const failure = message => ({ code: 'ERR_ASSERTION', message })

describe('the states of a body', () => {
  it('should change as the drawing in lib/front/input/body.js says, and not otherwise', () => {
    isAsDrawn('a body', Body, BODIES, [
      'UNREAD → COLLECTED', 'UNREAD → STREAMED', 'UNREAD → DROPPED', 'COLLECTED → COLLECTED', 'COLLECTED → LEFT',
      'LEFT → STREAMED', 'LEFT → DROPPED'
    ])
  })

  it('should have no more bytes than its length', () => {
    const body = new Body({ socket: { readableHighWaterMark: 100 } }, 3)
    body.add(Buffer.from('ab'))
    assert.throws(() => body.add(Buffer.from('cd')), failure('a body got 2 bytes, and 1 were missing'))
  })
})

describe('the states of a gate', () => {
  const calls = []
  const gate = () => new Gate({ readOn: () => calls.push('readOn'), socket: { readableHighWaterMark: 100 } })

  it('should have one read at a time', () => {
    const one = gate()
    assert.equal(one.beginRead(), true)
    assert.equal(one.beginRead(), false)
    one.done()
    assert.throws(() => one.done(), failure('a read ended that had not begun'))
    for (const reason of [BODY, FULL, MANY, HANDOVER, CLOSE]) {
      const stopped = gate()
      stopped.stop(reason)
      assert.equal(stopped.beginRead(), false)
    }
  })

  it('should go on after BODY, FULL and MANY alone', () => {
    for (const reason of [BODY, FULL, MANY]) {
      const one = gate()
      one.stop(reason)
      one.go(reason)
      assert.equal(one.isOpen, true)
    }
    assert.equal(calls.length, 3)
    for (const reason of [HANDOVER, CLOSE, READ, BODY | CLOSE]) {
      assert.throws(() => gate().go(reason), failure(`reading goes on after a stop for good: ${reason}`))
    }
  })

  it('should hold bytes only while it is not open', () => {
    const one = gate()
    assert.throws(() => one.hold(Buffer.from('a')), failure('bytes are held that can be read'))
    one.stop(FULL)
    one.hold(Buffer.from('a'))
    one.hold(Buffer.from('b'))
  })

  it('should hold bytes for node once, and give them away', () => {
    const one = gate()
    const lost = failure('node gets the socket without the bytes that it must read first')
    assert.throws(() => one.takeHeld(), lost)
    one.holdForNode(Buffer.from('a'))
    assert.throws(() => one.holdForNode(Buffer.from('b')), failure('bytes were held for node twice'))
    assert.deepEqual(one.takeHeld(), [Buffer.from('a')])
    assert.throws(() => one.takeHeld(), lost)
  })
})

describe('the states of a reader', () => {
  const reader = fields => Object.assign(new Reader({ front: { maxHeadersCount: 10, lastSection: () => null } }), fields)
  const bytes = Buffer.from('GET / HTTP/1.1\r\n\r\n')

  it('should have one message at a time', () => {
    assert.throws(() => reader({ partial: {} }).beginSection(bytes), failure('a message began inside a header section'))
    assert.throws(() => reader({ receiving: {} }).beginSection(bytes), failure('a message began inside a body'))
    const last = { section: {}, body: { isComplete: false } }
    assert.throws(() => reader({ receiving: {} }).keep(last, null), failure('a message began inside a body'))
  })

  it('should have nothing after the last message', () => {
    assert.throws(() => reader({ sawLast: true }).beginSection(bytes), failure('a message began after the last one'))
  })

  it('should not give a body back', () => {
    assert.throws(() => reader({ receiving: {} }).giveBack(bytes), failure('node gets the socket in the middle of a body'))
  })
})
