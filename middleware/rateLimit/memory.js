'use strict'

const { performance } = require('perf_hooks')
const { detach } = require('../../lib/shared/text')

const MAX_WINDOWS = 500_000

const shared = new WeakMap()

/**
 * Windows in two generations, of which the older one is dropped as a whole:
 *
 *        dropped      old            young
 *     ───────────┬──────────────┬──────────────┬─→ time
 *                swap           swap           swap, a duration later
 *
 * A window that began before a swap is over when the next swap comes. Removing windows one by one would walk over those
 * that were removed before, which the Map keeps for a while.
 */
class Windows {
  constructor (given) {
    this.given = given
    this.young = given ?? new Map() // id -> { count, end }
    this.old = new Map()
    this.duration = 0
    this.swapAt = 0
  }

  /** Those of a given Map, which several limiters may share. */
  static of (given) {
    if (given === undefined) return new Windows()
    let windows = shared.get(given)
    if (windows === undefined) shared.set(given, windows = new Windows(given))
    return windows
  }

  find (id, now) {
    if (now >= this.swapAt || this.young.size >= MAX_WINDOWS / 2) this.swap(now)
    return this.young.get(id) ?? this.old.get(id)
  }

  swap (now) {
    this.old = this.given === undefined ? this.young : new Map(this.given)
    if (this.given === undefined) this.young = new Map()
    else this.given.clear()
    this.swapAt = now + this.duration
  }
}

/**
 * Counts in this process' memory. The clock is `performance.now()`: nobody sets it back.
 *
 * @api private
 */
module.exports = class MemoryLimiter {
  constructor (given, duration) {
    this.windows = Windows.of(given)
    this.windows.duration = Math.max(this.windows.duration, duration)
    this.duration = duration
    this.isStoreUp = true
  }

  /**
   * Count a request.
   *
   * @param {string} id
   * @return {{ count: number, wait: number }} wait: ms until the window ends
   */
  count (id) {
    const now = performance.now()
    let window = this.windows.find(id, now)
    if (window === undefined || window.end <= now) {
      window = { count: 0, end: now + this.duration }
      this.windows.young.set(detach(id), window)
    }
    // the sum above is rounded: the difference may be longer than the window by less than a nanosecond
    return { count: ++window.count, wait: Math.min(window.end - now, this.duration) }
  }
}
