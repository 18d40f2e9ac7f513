'use strict'

const MAX_WINDOWS = 500_000

/**
 * Counts in this process' memory. All windows have the same length, so the Map has them in the order in
 * which they end: expired windows are removed from its front.
 *
 * @api private
 */
module.exports = class MemoryLimiter {
  constructor (windows, duration) {
    this.windows = windows // id -> { count, reset }
    this.duration = duration
  }

  /**
   * Count a request.
   *
   * @param {string} id
   * @return {{count: number, reset: number}} reset: the time, in ms, when the window ends
   */
  count (id) {
    const now = Date.now()
    let window = this.windows.get(id)
    if (window === undefined || window.reset <= now) {
      if (window !== undefined) this.windows.delete(id)
      this.forget(now)
      window = { count: 0, reset: now + this.duration }
      this.windows.set(id, window)
    }
    window.count++
    return window
  }

  forget (now) {
    for (const [id, { reset }] of this.windows) {
      if (reset > now && this.windows.size < MAX_WINDOWS) return
      this.windows.delete(id)
    }
  }
}
