'use strict'

const { AsyncLocalStorage, AsyncResource } = require('async_hooks')
const { nextTick } = require('../../timers')

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
    nextTick(raise, err)
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
    nextTick(raise, err)
    return true
  }
}

function raise (err) {
  throw err
}

/**
 * Runs requests in the async context of their connection, as node's parser does. The next request does not see the
 * store of a handler that called `AsyncLocalStorage.enterWith`. Connections with the context of `listen()` share one.
 */
class Scope {
  constructor (isShared = true) {
    this.isShared = isShared
    this.resource = new AsyncResource('KONEFRONT', { requireManualDestroy: true })
    this.hasStores = storesOf(this.resource).some(symbol => this.resource[symbol] !== undefined)
    // Otherwise a request that is alone in its callback of the socket runs without: a scope costs as much as two layers
    // of middleware.
    this.isNeeded = LEAKS || this.hasStores
  }

  /** @return {Scope} this one if it has the current context, otherwise a new one for one connection */
  forCurrent () {
    const current = new Scope(false)
    const symbols = [this, current].flatMap(({ resource }) => storesOf(resource))
    if (symbols.some(symbol => current.resource[symbol] !== this.resource[symbol])) return current
    current.release()
    return this
  }

  /** Calls `fn` in this context. */
  invoke (fn, self, arg) {
    return this.resource.runInAsyncScope(fn, self, arg)
  }

  /** Handles a request in this context, up to Node 22 in a resource of its own. */
  handle (connection, incoming) {
    if (!LEAKS) this.invoke(connection.handle, connection, incoming)
    else if (this.hasStores) this.invoke(handleInNewResource, connection, incoming)
    else new AsyncResource('KONEREQUEST').runInAsyncScope(connection.handle, connection, incoming)
  }

  /** The server or the connection is closed: tools that list open handles see this one as done. */
  release () {
    this.resource.emitDestroy()
  }
}

function handleInNewResource (incoming) {
  new AsyncResource('KONEREQUEST').runInAsyncScope(this.handle, this, incoming)
}

const NO_STORES = ['async_id_symbol', 'trigger_async_id_symbol', 'destroyed']

/** What a resource holds beside its ids: stores of an AsyncLocalStorage, or a frame of them. */
function storesOf (resource) {
  return Object.getOwnPropertySymbols(resource).filter(symbol => !NO_STORES.includes(symbol.description))
}

/** Up to Node 22 `enterWith` writes into the running resource, so each request gets a resource there. */
const LEAKS = (() => {
  const storage = new AsyncLocalStorage()
  const resource = new AsyncResource('KONEREQUEST')
  resource.runInAsyncScope(() => storage.enterWith(true))
  const leaks = resource.runInAsyncScope(() => storage.getStore()) === true
  storage.disable()
  return leaks
})()

module.exports = { LEAKS, call, callAll, emit, Scope }
