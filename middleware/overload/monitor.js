'use strict'

const { performance } = require('perf_hooks')
const { elsewhere } = require('../../lib/shared/runtime')
const { clearTimeout, now, setTimeout } = require('../../lib/shared/timers')
const Queue = require('./queue')

const RESOLUTION = 10 // ms
const BUSY = 20 // ms without a pause, after which requests may wait in the kernel

/**
 * Compares the process with its limits for each request.
 *
 *     tick          tick (late)
 *      ├───────┬──────┤
 *        10 ms   delay
 *
 * While the event loop is busy, ticks are late. A request counts the time since the last tick, because the delay may
 * still grow: the first requests of a burst pass, and those after them are refused in the same turn of the event loop.
 * It also counts the delay of the last tick, because it may have waited that long to be read. A sample per second would
 * notice too late, and then refuse all of a second's requests.
 *
 * Ticks are not late while iterations of the event loop are short, however many there are. So once the event loop has
 * had no pause for some time, requests go through a queue, which finds out how many wait.
 */
module.exports = class Monitor {
  constructor ({ maxEventLoopDelay, maxEventLoopUtilization, maxHeapUsedBytes, maxRssBytes, sampleInterval }) {
    this.limits = {
      eventLoopUtilization: maxEventLoopUtilization,
      heapUsedBytes: maxHeapUsedBytes,
      rssBytes: maxRssBytes
    }
    this.maxDelay = maxEventLoopDelay
    this.canQueue = maxEventLoopDelay < Infinity && elsewhere === '' // where pauses are known
    this.isSampling = Object.values(this.limits).some(limit => limit < Infinity)
    this.interval = sampleInterval
    this.sampledAt = -Infinity
    this.utilization = undefined
    this.figures = { eventLoopUtilization: 0, heapUsedBytes: 0, rssBytes: 0 }
    this.exceeded = undefined // of the last sample
    this.refusedAt = -Infinity
    this.timer = undefined
    this.tickAt = 0
    this.isSeen = false // a request since the last tick
    this.delay = 0 // of the last tick
    this.queue = new Queue(maxEventLoopDelay)
    this.pausedAt = 0 // the last tick before which the event loop had a pause
    this.idle = 0 // ms of all pauses
  }

  /**
   * @param {number} time of now
   * @return {string|undefined} what exceeds its limit: 'eventLoopDelay', 'eventLoopUtilization', 'heapUsedBytes' or
   *   'rssBytes'
   */
  check (time) {
    this.isSeen = true
    this.queue.onRequest()
    if (this.timer === undefined) this.watch(time)
    if (this.isSampling && time - this.sampledAt >= this.interval) this.sample(time)
    return this.delayAt(time) > this.maxDelay || this.queue.isFull ? 'eventLoopDelay' : this.exceeded
  }

  /** Must a request go through the queue? Always while others do, so that they keep their order. */
  needsQueue (time) {
    if (this.queue.isRunning) return true
    return this.canQueue && time - Math.max(this.pausedAt, this.queue.clearAt) > BUSY
  }

  onRefused (time) {
    this.refusedAt = time
  }

  /** ms that a request which is read now has waited: since the last tick, or on average half of the delay before it. */
  delayAt (time) {
    return Math.max(time - this.tickAt - RESOLUTION, this.delay / 2)
  }

  /** Ticks only while requests arrive: an idle process is not woken. */
  watch (time) {
    if (this.canQueue) this.notePause(time)
    this.tickAt = time
    this.isSeen = false
    if (this.timer !== undefined) this.timer.refresh()
    else this.timer = setTimeout(tick, RESOLUTION, this).unref()
  }

  notePause (time) {
    const { idle } = performance.eventLoopUtilization()
    if (idle > this.idle || this.timer === undefined) this.pausedAt = time
    this.idle = idle
  }

  /** Utilization and memory, which take longer to read: once per interval. */
  sample (time) {
    this.sampledAt = time
    const { limits, figures } = this
    if (limits.eventLoopUtilization < Infinity) {
      const before = this.utilization
      this.utilization = performance.eventLoopUtilization()
      // the start of the process, which is busy, does not count
      if (before !== undefined) {
        figures.eventLoopUtilization = performance.eventLoopUtilization(this.utilization, before).utilization
      }
    }
    if (limits.heapUsedBytes < Infinity) figures.heapUsedBytes = process.memoryUsage().heapUsed
    if (limits.rssBytes < Infinity) figures.rssBytes = process.memoryUsage.rss()
    this.exceeded = Object.keys(limits).find(name => figures[name] > limits[name])
  }

  /** @return {object} what health shows */
  state () {
    const time = now()
    return {
      isOverloaded: time - this.refusedAt < this.interval,
      eventLoopDelay: this.timer === undefined ? 0 : Math.max(0, this.delayAt(time), this.queue.delayAt(time)),
      ...Object.fromEntries(Object.entries(this.figures).filter(([name]) => this.limits[name] < Infinity))
    }
  }

  stop () {
    clearTimeout(this.timer)
    this.timer = undefined
    this.delay = 0
  }
}

function tick (monitor) {
  const time = now()
  monitor.delay = time - monitor.tickAt - RESOLUTION
  if (monitor.isSeen) monitor.watch(time)
  else monitor.stop()
}
