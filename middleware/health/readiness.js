'use strict'

// set while app.close() drains a server (lib/engines/drain.js)
const kDraining = Symbol.for('kone.draining')

/**
 * Does the process accept connections? Not any more from the beginning of its shutdown on, and not while its server
 * drains or has stopped listening.
 */
module.exports = class Readiness {
  #listened = null // a server that was seen listening
  #isStopping = false
  #stopped // promise of shutdown()
  #before
  #after

  /**
   * @param {Function} [before] the shutdown
   * @param {Function} [after] the servers have stopped
   */
  constructor (before, after) {
    this.#before = once(before)
    this.#after = once(after)
  }

  /** Called with every request: only a server that was seen listening can have stopped. */
  see ({ socket }) {
    if (this.#listened === null && socket?.server?.listening) this.#listened = socket.server
  }

  /** A server that never listened counts as ready: it belongs to a test that emits connections. */
  isDraining ({ socket }) {
    if (this.#isStopping) return true
    const server = socket?.server
    if (!server) return false
    return server[kDraining] !== undefined || (server.listening === false && server === this.#listened)
  }

  begin () {
    this.#isStopping = true
    return this.#before()
  }

  end () {
    return this.#after()
  }

  /** @param {Function} close stops the servers */
  shutdown (close) {
    this.#stopped ??= inOrder([() => this.begin(), close, () => this.end()])
    return this.#stopped
  }
}

/** shutdown() and the app's close() may both call it. */
function once (fn) {
  let called
  return () => (called ??= (async () => fn?.())())
}

async function inOrder (steps) {
  const failures = []
  for (const step of steps) {
    try {
      await step()
    } catch (err) {
      failures.push(err)
    }
  }
  if (failures.length > 0) throw failures[0]
}
