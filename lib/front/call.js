'use strict'

const { AsyncLocalStorage, AsyncResource } = require('async_hooks')
const { throwLater } = require('../shared/timers')

/**
 * The only file of the front that calls listeners and callbacks of the app. Such code runs in the middle of the front's
 * own work, in its loops over requests, responses, connections and callbacks, and an exception must not end that work.
 * It becomes an uncaught exception in the next tick, as it would have been.
 */

/** @return {*} what `fn` returns; undefined if it throws */
function call (fn, one, two, three) {
  try {
    return fn(one, two, three)
  } catch (err) {
    throwLater(err)
  }
}

function callAll (callbacks, err) {
  for (const fn of callbacks) call(fn, err)
}

/** `emitter.emit(…)`. As there, a listener that throws keeps the later ones from being called. */
function emit (emitter, event, ...args) {
  try {
    return emitter.emit(event, ...args)
  } catch (err) {
    throwLater(err)
    return true
  }
}

/** Destroyed by hand, so that tools that list open handles do not show it until the next garbage collection. */
const BY_HAND = { requireManualDestroy: true }

/**
 * Runs requests in the async context of their connection, as node's parser does. The next request does not see the
 * store of a handler that called `AsyncLocalStorage.enterWith`. Connections with the context of `listen()` share one.
 */
class Scope {
  /**
   * @param {boolean} isShared by the connections of a server
   * @param {boolean} isSockets the events of the socket have this context, too: a request that is alone in its callback
   *   of the socket needs no scope, which costs as much as two layers of middleware
   */
  constructor (isShared, isSockets) {
    this.isShared = isShared
    this.isSockets = isSockets
    this.isNeeded = LEAKS || !isSockets
    this.resource = new AsyncResource('KONEFRONT', BY_HAND)
  }

  /** Calls `fn` in this context. */
  invoke (fn, self, one, two, three) {
    return this.resource.runInAsyncScope(fn, self, one, two, three)
  }

  /** Handles a request in this context, up to Node 22 in a resource of its own. */
  handle (connection, incoming) {
    if (!LEAKS) return this.invoke(connection.handle, connection, incoming)
    const resource = this.isSockets ? resourceOfRequest() : this.invoke(resourceOfRequest)
    resource.runInAsyncScope(connection.handle, connection, incoming)
    resource.emitDestroy() // what the handler began has resources of its own
  }

  /** The server or the connection is closed. */
  release () {
    this.resource.emitDestroy()
  }
}

function resourceOfRequest () {
  return new AsyncResource('KONEREQUEST', BY_HAND)
}

/** Up to Node 22 `enterWith` writes into the running resource, so each request gets a resource there. */
const LEAKS = (() => {
  const storage = new AsyncLocalStorage()
  const resource = resourceOfRequest()
  resource.runInAsyncScope(() => storage.enterWith(true))
  const leaks = resource.runInAsyncScope(() => storage.getStore()) === true
  resource.emitDestroy()
  storage.disable()
  return leaks
})()

module.exports = { LEAKS, call, callAll, emit, Scope }
