'use strict'

const { channel } = require('diagnostics_channel')
const { now, setImmediate } = require('../../lib/shared/timers')

const LONGEST_LOOK = 1 // ms until the next request starts, also if looking still finds something
const SHARE = 1 / 16 // of the time for which it has found something: a look may take as long, if that is more
const HANDED = 0.25 // ms in which a cluster's primary hands on the next connection, once it knows that one has arrived
const TOO_LATE = 1.5 // times the limit: what has waited for so long is refused, although it seemed to fit
const SHORT = 0.5 // ms that handlers may take for more of them to start at once
const MOST_STARTS = 32
const NEVER = -1
const WEIGHT = 1 / 16 // of the last interval in the mean

let connections = 0 // that the process has accepted since the first look
let handedAt = -Infinity // when a primary has handed on the last one
let isCounting = false

/**
 * Requests that wait for the event loop where it is known for how long.
 *
 * Libuv accepts one connection per iteration of the event loop. If each iteration also runs a handler, all iterations
 * are short, and connections wait in the kernel, where nobody sees them. So iterations without a handler follow one
 * another until one brings neither a connection nor a request. Then nobody waits anywhere else, and the oldest request
 * starts.
 *
 *    look ──▶ look ──▶ nothing new ──▶ start one ──▶ look …
 *      └────────┴─▶ requests wait here, or are refused: they would wait for longer than the limit
 *
 * It stops when nobody waits. Until then an iteration of the event loop is added to each request of some ms.
 */
module.exports = class Queue {
  /** @param {number} limit in ms */
  constructor (limit) {
    this.limit = limit
    this.waiting = [] // { since, start }
    this.isRunning = false
    this.clearAt = -Infinity // when nobody waited anywhere else
    this.requests = 0 // since the last iteration
    this.connections = 0 // the count at the last iteration
    this.lookedSince = NEVER // the first iteration without a handler since the last start
    this.startedAt = NEVER // when the last requests have started
    this.starts = 1 // how many of them
    this.interval = 0 // ms from one start to the next, the mean
  }

  /** Would the next request wait for longer than the limit? */
  get isFull () {
    return this.waiting.length * this.interval > this.limit
  }

  /** @return {number} ms that the oldest request has waited */
  delayAt (time) {
    return this.waiting.length === 0 ? 0 : time - this.waiting[0].since
  }

  /** A request has arrived, which may be refused. */
  onRequest () {
    this.requests++
  }

  /**
   * @param {number} time of its arrival
   * @return {Promise<boolean>} whether it may start; false: it is too late
   */
  wait (time) {
    if (!this.isRunning) this.run(time)
    return new Promise(resolve => this.waiting.push({ since: time, start: resolve }))
  }

  run (time) {
    countConnections()
    this.isRunning = true
    this.lookedSince = this.clearAt = time
    this.startedAt = NEVER
    this.starts = 1
    this.requests = 1
    setImmediate(look, this)
  }

  /** The end of an iteration of the event loop. */
  look (time) {
    const isClear = this.requests === 0 && this.connections === connections && time - handedAt > HANDED
    this.requests = 0
    this.connections = connections
    if (this.lookedSince === NEVER) this.lookedSince = time
    if (isClear) this.clearAt = time
    else if (time - this.lookedSince < Math.max(LONGEST_LOOK, (time - this.clearAt) * SHARE)) return
    while (this.delayAt(time) > this.limit * TOO_LATE) this.waiting.shift().start(false)
    if (this.waiting.length > 0) this.startNext(time)
    this.isRunning = !isClear || this.waiting.length > 0
  }

  /** One; more while handlers are fast, so that looking costs them little. */
  startNext (time) {
    if (this.startedAt !== NEVER) {
      const interval = (time - this.startedAt) / this.starts
      this.interval += (interval - this.interval) * (this.interval === 0 ? 1 : WEIGHT)
      this.starts = this.lookedSince - this.startedAt < SHORT ? Math.min(this.starts * 2, MOST_STARTS) : 1
    }
    this.startedAt = time
    this.lookedSince = NEVER // the handlers run when this function has returned
    for (const { start } of this.waiting.splice(0, this.starts)) start(true)
  }
}

function look (queue) {
  const time = now()
  queue.look(time)
  if (queue.isRunning) setImmediate(look, queue)
}

function countConnections () {
  if (isCounting) return
  isCounting = true
  channel('net.server.socket').subscribe(({ socket }) => {
    connections++
    // what a primary accepts on is no handle of this process
    if (socket.server?._handle?.fd === undefined) handedAt = now()
  })
}
