'use strict'

const { hrtime, nextTick } = require('process')
const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = require('timers') // jsdom has others, or none

/**
 * The timers and clocks that requests depend on, as they are when kone is loaded: the tests of an app fake them later.
 * What such a test wants to fake, as the time of `timeout()` or the age of a session, uses the global ones.
 */

const { Date, queueMicrotask } = globalThis

/** ms of the longest timer: what is longer fires at once. */
const LONGEST = 2 ** 31 - 1

/** @return {number} ms since any time in the past. perf_hooks, which has the same, takes milliseconds to load. */
function now () {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** @return {Date} of this moment */
function currentDate () {
  return new Date()
}

/** Throw in the next tick: an uncaught exception, which ends no work of the caller's. */
function throwLater (err) {
  nextTick(raise, err)
}

function raise (err) {
  throw err
}

module.exports = {
  LONGEST,
  clearInterval,
  clearTimeout,
  currentDate,
  nextTick,
  now,
  queueMicrotask,
  setImmediate,
  setInterval,
  setTimeout,
  throwLater
}
