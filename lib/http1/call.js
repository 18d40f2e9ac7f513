'use strict'

const process = require('node:process')

/**
 * The only file of the front that calls listeners and callbacks of the app. Such code runs in the middle of the front's
 * own work, in its loops over requests, responses, connections and callbacks, and an exception must not end that work.
 * It becomes an uncaught exception in the next tick, as it would have been.
 */

/**
 * Call a function that may call code of the app.
 *
 * @param {Function} fn
 * @return {*} what `fn` returns; undefined if it throws
 */
function call (fn, one, two, three) {
  try {
    return fn(one, two, three)
  } catch (err) {
    process.nextTick(raise, err)
  }
}

/**
 * Call all of these functions.
 *
 * @param {Function[]} callbacks `(err) => void`
 * @param {Error|null} err
 */
function callAll (callbacks, err) {
  for (const fn of callbacks) call(fn, err)
}

/**
 * `emitter.emit(...)`. As there, a listener that throws keeps the later ones from being called.
 *
 * @return {boolean} whether there was a listener
 */
function emit (emitter, event, ...args) {
  try {
    return emitter.emit(event, ...args)
  } catch (err) {
    process.nextTick(raise, err)
    return true
  }
}

function raise (err) {
  throw err
}

module.exports = { call, callAll, emit }
