'use strict'

const { performance } = require('node:perf_hooks')
const { clearTimeout, setImmediate, setTimeout } = require('node:timers') // jsdom has others, or none

/** How often to look at the connections, in ms. */
const LONGEST_PERIOD = 500
const SHORTEST_PERIOD = 20

/** Node's default for `server.connectionsCheckingInterval`, in ms. */
const CHECKING_INTERVAL = 30000

/**
 * One coarse clock for all timeouts of a server's connections, and a count of event loop iterations.
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
    this.ms = 1        // of the last tick: exact enough for timeouts, and reading it is free
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

  stop () {
    clearTimeout(this.timer)
    this.timer = null
  }

  schedule () {
    const { keepAliveTimeout, connectionsCheckingInterval } = this.server
    const shortest = Math.min(keepAliveTimeout || Infinity, connectionsCheckingInterval || Infinity)
    this.period = Math.max(SHORTEST_PERIOD, Math.min(LONGEST_PERIOD, shortest / 4))
    this.timer = setTimeout(tick, this.period, this)
    this.timer.unref()
  }

  tick () {
    const previous = this.ms
    const ms = this.ms = now()
    const { connectionsCheckingInterval = CHECKING_INTERVAL } = this.server
    const checkMessages = ms - this.checked >= connectionsCheckingInterval
    if (checkMessages) this.checked = ms
    // While the process did not run it read nothing.
    const slack = Math.max(0, ms - previous - 2 * this.period)
    for (const connection of this.connections) connection.deadlines.tick(ms, slack, checkMessages)
    if (this.connections.size > 0) this.schedule()
    else this.timer = null
  }

  /**
   * The number of the event loop's current iteration. Only iterations in which somebody calls this are
   * counted.
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
