'use strict'

const { performance } = require('node:perf_hooks')
const { setImmediate, setTimeout } = require('node:timers') // jsdom has others, or none

/** How often the connections are checked, in ms. */
const LONGEST_PERIOD = 500
const SHORTEST_PERIOD = 20

/** Node's default for `server.connectionsCheckingInterval`, in ms. */
const CHECKING_INTERVAL = 30000

/**
 * One coarse clock for all timeouts of a server's connections, and a count of event loop iterations. A tick looks at
 * the connections that read or wrote since the last one, and at those that have been idle the longest: a silent
 * connection costs nothing until its timeout.
 *
 *    const clock = new Clock(server, connections)
 *    connection.since = clock.ms
 */
class Clock {
  /**
   * @param {http.Server} server whose timeouts are read at each use
   * @param {Set<Connection>} connections whose deadlines are checked
   */
  constructor (server, connections) {
    this.server = server
    this.connections = connections
    this.touched = []      // that read or wrote since the last tick
    this.idle = new Set()  // all others, in the order of their last read or write
    this.ms = 1        // time of the last tick, exact enough for timeouts
    this.period = 0
    this.timer = null
    this.checked = 0
    this.count = 0
    this.counting = false
  }

  /** Runs while there are connections. */
  start () {
    if (this.timer !== null) return
    this.checked = this.ms = now()
    this.schedule()
  }

  /** Its idle time begins at the next tick. */
  touch (connection) {
    this.touched.push(connection)
  }

  forget (connection) {
    this.idle.delete(connection)
  }

  schedule () {
    const { keepAliveTimeout, connectionsCheckingInterval } = this.server
    const shortest = Math.min(keepAliveTimeout || Infinity, connectionsCheckingInterval || Infinity)
    this.period = Math.max(SHORTEST_PERIOD, Math.min(LONGEST_PERIOD, shortest / 4))
    this.timer = setTimeout(tick, this.period, this)
    this.timer.unref()
  }

  tick () {
    const { ms: previous, period } = this
    const ms = this.ms = now()
    const { connectionsCheckingInterval = CHECKING_INTERVAL } = this.server
    const checkMessages = ms - this.checked >= connectionsCheckingInterval
    if (checkMessages) this.checked = ms
    // Time in which the process did not run does not count, because it read nothing.
    const slack = Math.max(0, ms - previous - 2 * period)
    // First, so that nothing that fails below can end the clock.
    if (this.connections.size > 0) this.schedule()
    else this.timer = null
    this.stamp(ms)
    if (checkMessages) for (const connection of this.connections) connection.deadlines.checkMessage(ms - slack)
    this.expire(ms - slack)
  }

  stamp (ms) {
    const { touched } = this
    this.touched = []
    for (const connection of touched) {
      this.idle.delete(connection)
      if (!this.connections.has(connection)) continue
      connection.deadlines.stamp(ms)
      this.idle.add(connection)
    }
  }

  expire (ms) {
    for (const connection of this.idle) {
      if (!connection.deadlines.isOver(ms)) break // those that follow read or wrote later
      this.idle.delete(connection)
      connection.deadlines.expire()
    }
  }

  /**
   * The number of the event loop's current iteration. Counts only iterations in which this is called.
   *
   * @return {number}
   */
  iteration () {
    if (!this.counting) {
      this.counting = true
      setImmediate(nextIteration, this)
    }
    return this.count
  }

  next () {
    this.counting = false
    this.count++
  }
}

function tick (clock) {
  clock.tick()
}

function nextIteration (clock) {
  clock.next()
}

function now () {
  return Math.ceil(performance.now())
}

module.exports = { Clock }
