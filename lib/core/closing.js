'use strict'

const { channel } = require('diagnostics_channel')
const { drain } = require('../engines/drain')
const { toError } = require('../shared/error-path')
const { placeIn, trace } = require('../shared/places')
const { LONGEST, clearTimeout, now, setTimeout } = require('../shared/timers')

/**
 * The functions of `app.onClose()`.
 */

/**
 * Whoever ends the process subscribes to it, and gets the Closing of each app that has a function: `has()` and `call()`
 * may be those of another copy of kone.
 */
const published = channel('kone:closing')

/** ms that a function has even if the drain, or another function, has used all the time. */
const SHORTEST = 500

class Closing {
  constructor (app) {
    this.app = app
    this.functions = []
    this.called = { before: null, after: null } // promises: a second close() waits for what the first one has called
  }

  add (fn, isBefore) {
    if (this.functions.length === 0 && published.hasSubscribers) published.publish(this)
    this.functions.push({ fn, stage: isBefore ? 'before' : 'after', traced: trace() })
  }

  has (stage) {
    return this.called[stage] !== null || this.functions.some(one => one.stage === stage)
  }

  /**
   * Call each function once, one after the other, the one registered last first.
   *
   * @param {'before'|'after'} stage
   * @param {{ deadline: number, timeout: number }} time deadline by now()
   * @return {Promise<void>} never rejected
   */
  call (stage, time) {
    const earlier = this.called[stage]
    const callAll = () => this.callAll(stage, time)
    return (this.called[stage] = earlier === null ? callAll() : earlier.then(callAll))
  }

  async callAll (stage, time) {
    for (;;) {
      const at = this.functions.findLastIndex(one => one.stage === stage)
      if (at === -1) return
      const [one] = this.functions.splice(at, 1)
      await this.callOne(one, time)
    }
  }

  callOne ({ fn, traced }, { deadline, timeout }) {
    const left = Math.max(deadline - now(), SHORTEST)
    return new Promise(resolve => {
      const timer = left > LONGEST
        ? null
        : setTimeout(() => {
          this.report(tooSlow(fn, traced, timeout))
          resolve()
        }, left)
      const call = async () => fn()
      call().catch(err => this.report(err)).then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Without ctx: a listener that expects one is no reason to leave the others uncalled. */
  report (thrown) {
    const { app } = this
    const err = toError(thrown)
    try {
      if (app.listenerCount('error') > 0) app.emit('error', err)
      else app.onerror(err)
    } catch (failed) {
      console.error(err)
      console.error(failed)
    }
  }
}

function tooSlow (fn, traced, timeout) {
  const place = placeIn(traced)
  const name = [fn.name, place && `${place.file}:${place.row}`].filter(Boolean).join(', ') || 'a function'
  return Object.assign(new Error(`app.onClose(): ${name} was not over within ${timeout} ms`), { code: 'KONE_ERR_CLOSE_TIMEOUT' })
}

/**
 * Stop servers and call the functions of their apps.
 *
 * @param {Iterable<Closing>} closings the first one's functions are called last
 * @param {Iterable<net.Server>} servers
 * @param {object} settings
 * @param {number} settings.timeout ms that all of it may take
 * @param {number} settings.grace see drain()
 * @param {boolean} [settings.before] whether those are called that precede the drain
 * @param {number} [settings.deadline] by now(), if the time has begun before
 * @return {Promise<void>}
 */
function close (closings, servers, { timeout, grace, before = true, deadline = now() + timeout }) {
  const time = { deadline, timeout }
  const drainAll = () => {
    const left = Math.max(deadline - now(), 0)
    return Promise.all(Array.from(servers, server => drain(server, { timeout: left, grace })))
  }
  const isWaiting = before && [...closings].some(closing => closing.has('before'))
  const drained = isWaiting ? callEach(closings, 'before', time).then(drainAll) : drainAll()
  return drained.then(() => callEach(closings, 'after', time))
}

/** Those of the app that was the last to get one are called first. */
async function callEach (closings, stage, time) {
  for (const closing of [...closings].reverse()) await closing.call(stage, time)
}

module.exports = { Closing, callEach, close }
