'use strict'

const { clearTimeout, setTimeout } = require('node:timers') // jsdom has others
const deadline = require('./deadline')

const FAILURES = 5 // in succession
const BETWEEN = 1000 // ms between the end of one probe and the next one

const breakers = new WeakMap()

/**
 * A circuit breaker: after five failures in succession operations of a store fail at once, instead of after 5 s each,
 * until the store responds to a probe in the background.
 *
 *    const breaker = breakerOf(client, () => client.get('probe'))
 *    const value = await breaker.run(() => client.get(key))
 *
 * A store that fails one operation after another, but responds, is available again as soon as it responds to the
 * first probe: a client whose requests it refuses cannot make it unavailable to others.
 */
class Breaker {
  #probe
  #failures = 0
  #timer = undefined

  constructor (probe) {
    this.#probe = probe
    this.isUp = true
  }

  /**
   * @param {Function} operation returns a value or a promise, which has a deadline here
   * @return {*} what the operation returns, at once or as a promise
   * @throws {Error} that of the operation, or `KONE_ERR_STORE_DOWN` if the store is down
   */
  run (operation) {
    if (!this.isUp) throw down()
    let result
    try {
      result = operation()
    } catch (err) {
      this.failed()
      throw err
    }
    if (!isThenable(result)) {
      this.responded()
      return result
    }
    result.then(() => this.responded(), () => {}) // also when it is late
    return deadline(result).catch(err => {
      this.failed()
      throw err
    })
  }

  responded () {
    this.#failures = 0
    if (this.isUp) return
    this.isUp = true
    clearTimeout(this.#timer)
  }

  failed () {
    if (!this.isUp || ++this.#failures < FAILURES) return
    this.isUp = false
    this.probe()
  }

  async probe () {
    try {
      const responding = Promise.resolve(this.#probe())
      responding.then(() => this.responded(), () => {})
      await deadline(responding)
    } catch {
      clearTimeout(this.#timer)
      if (!this.isUp) this.#timer = setTimeout(() => this.probe(), BETWEEN).unref()
    }
  }
}

/**
 * @param {object} store or client: its breaker is shared by all that use it
 * @param {Function} probe an operation that it can respond to
 * @return {Breaker}
 */
function breakerOf (store, probe) {
  let breaker = breakers.get(store)
  if (breaker === undefined) breakers.set(store, breaker = new Breaker(probe))
  return breaker
}

const DOWN = 'KONE_ERR_STORE_DOWN'

function down () {
  return Object.assign(new Error('the store does not respond'), { code: DOWN })
}

function isThenable (value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function'
}

module.exports = { DOWN, breakerOf, isThenable }
