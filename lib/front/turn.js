'use strict'

const { LEAKS } = require('./call')
const { setImmediate } = require('../shared/timers')

/**
 * The turns of the event loop, by number. Some of what has happened is visible on node only after the ticks and
 * microtasks of the turn in which it happened: that a body is complete, that a flushed response has closed. Who has to
 * know notes the number of that turn, and asks later whether it is past.
 */

/** In place of a number: it has not happened, and is not past. */
const NEVER = -1

/** It happened before, whatever the turn is. */
const EARLIER = 0

let number = 1
let immediate = null // ends a turn that counts
let endings = []     // connections, what ends with this turn, and its argument

/**
 * The immediate lets the event loop wait: otherwise each response cost a turn that found nothing (measured: 8 % of a
 * connection with one request, 3 % of a kept one with one request at a time).
 *
 * @return {number} of this turn; counts only turns in which this is called
 */
function now () {
  if (immediate === null) immediate = setImmediate(end).unref()
  return number
}

/** @return {boolean} whether it happened in a turn before this one */
function isPast (turn) {
  return turn !== NEVER && turn !== number
}

/**
 * Calls `fn` of a connection after the ticks and microtasks of this turn, in the connection's scope. One immediate for
 * all is cheaper than one for each, and comes before those of a handler, as on node. Up to Node 22 (see LEAKS)
 * listeners see the stores of the handler: there each call needs an immediate of its own.
 */
function atEnd (connection, fn, value) {
  if (LEAKS) {
    setImmediate(() => fn.call(connection, value))
    return
  }
  now()
  immediate.ref()
  endings.push(connection, fn, value)
}

function end () {
  const ended = endings
  immediate = null
  number++
  if (ended.length === 0) return
  endings = []
  for (let i = 0; i < ended.length; i += 3) ended[i].scope.invoke(ended[i + 1], ended[i], ended[i + 2])
}

module.exports = { NEVER, EARLIER, now, isPast, atEnd }
