'use strict'

const { clearTimeout, now, setTimeout } = require('../../lib/shared/timers')
const deadline = require('./deadline')

const FAILURES = 5 // in succession
const BETWEEN = 1000 // ms between the end of one probe and the next one

const breakers = new WeakMap()

/**
 * A circuit breaker: after five failures in succession a store is down, until it responds to an operation or to a
 * probe in the background, one a second. Meanwhile operations fail at once, instead of after 5 s each.
 *
 *    const breaker = breakerOf(client, () => client.get('probe'))
 *    const value = await breaker.run(() => client.get(key))
 *
 * A store that rejects the probe at once is reachable: it still gets all operations, because none has to wait. It may
 * reject unknown ids alone, and forged ids must not make it unavailable for the others. If it once let an operation
 * wait, it gets one operation after each probe that it rejects at once, until one succeeds.
 */
class Breaker {
  #probe
  #failures = 0
  #rejects = false // it rejected a probe at once
  #hangs = false // it kept an operation waiting since the last response
  #admits = false // the next operation, although it is down and hangs
  #timer = undefined

  constructor (probe) {
    this.#probe = probe
    this.isUp = true
  }

  /**
   * @param {Function} operation returns a value or a promise, which has a deadline here
   * @return {*} what the operation returns, at once or as a promise
   * @throws {Error} that of the operation, or `KONE_ERR_STORE_DOWN` if the store was down before
   */
  run (operation) {
    const { isUp } = this
    if (!isUp && (this.#hangs || !this.#rejects)) {
      if (!this.#admits) throw down()
      this.#admits = false
    }
    const start = now()
    const fail = err => {
      this.failed(isLong(start))
      throw isUp ? err : down(err)
    }
    let result
    try {
      result = operation()
    } catch (err) {
      return fail(err)
    }
    if (!isThenable(result)) {
      this.responded()
      return result
    }
    result.then(() => this.responded(), () => {}) // also when it is late
    return deadline(result).catch(fail)
  }

  responded () {
    this.#failures = 0
    this.#hangs = false
    if (this.isUp) return
    this.isUp = true
    clearTimeout(this.#timer)
  }

  failed (wasLong) {
    if (wasLong) this.#hangs = true
    if (!this.isUp || ++this.#failures < FAILURES) return
    this.isUp = false
    this.#admits = false
    this.probe()
  }

  async probe () {
    const start = now()
    try {
      const responding = Promise.resolve(this.#probe())
      responding.then(() => this.responded(), () => {})
      await deadline(responding)
    } catch {
      this.#admits = !isLong(start)
      if (this.#admits) this.#rejects = true
      else this.#hangs = true
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

function down (cause) {
  return Object.assign(new Error('the store does not respond', { cause }), { code: DOWN })
}

/** Has it kept its caller waiting? Its error does not tell, because clients have timeouts of their own. */
function isLong (start) {
  return now() - start >= BETWEEN
}

function isThenable (value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function'
}

module.exports = { DOWN, breakerOf, isThenable }
