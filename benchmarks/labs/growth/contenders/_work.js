'use strict'

/*
 * What all three contenders make of the same number.
 */

exports.LIMIT = 200e6 // bytes of a body

exports.buffer = memoized(size => Buffer.alloc(size, 'x'))
exports.text = memoized(size => 'x'.repeat(size))
exports.items = memoized(n => Array.from({ length: n }, (_, i) => `item <${i}>`))

function memoized (make) {
  const made = new Map()
  return n => {
    if (!made.has(n)) made.set(n, make(n))
    return made.get(n)
  }
}
