'use strict'

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')

/**
 * The async context of a server's requests: the context of `listen()`, as with node's parser, and one in
 * which `AsyncLocalStorage.enterWith` of one handler is not seen by the next request.
 */
class Scope {
  constructor () {
    this.resource = new AsyncResource('KONEFRONT', { requireManualDestroy: true })
    this.hasStores = hasStores(this.resource)
  }

  /** Calls `fn(...args)` in the context of `listen()`. */
  run (fn, ...args) {
    return this.resource.runInAsyncScope(fn, null, ...args)
  }

  /**
   * Calls a request's handler. A scope costs as much as two layers of middleware, so none is entered
   * without need.
   *
   * @param {Function} fn `(one, two) => void`
   * @param {*} one
   * @param {*} two
   * @param {boolean} isLast nothing else runs in this callback of the socket
   */
  enter (fn, one, two, isLast) {
    if (LEAKS) {
      if (this.hasStores) this.run(inOwnResource, fn, one, two)
      else inOwnResource(fn, one, two)
    } else if (isLast && !this.hasStores) {
      fn(one, two)
    } else {
      this.run(fn, one, two)
    }
  }

  /** The server is closed: tools that list open handles see this one as done. */
  destroy () {
    this.resource.emitDestroy()
  }
}

function inOwnResource (fn, one, two) {
  new AsyncResource('KONEREQUEST').runInAsyncScope(fn, null, one, two)
}

/** Does the resource carry more than its ids: stores of an AsyncLocalStorage, or a frame of them? */
function hasStores (resource) {
  return Object.getOwnPropertySymbols(resource)
    .some(symbol => !NO_STORES.includes(symbol.description) && resource[symbol] !== undefined)
}

const NO_STORES = ['async_id_symbol', 'trigger_async_id_symbol', 'destroyed']

/** Up to Node 22 `enterWith` writes into the running resource: there each request gets one of its own. */
const LEAKS = (() => {
  const storage = new AsyncLocalStorage()
  const resource = new AsyncResource('KONEREQUEST')
  resource.runInAsyncScope(() => storage.enterWith(true))
  const leaks = resource.runInAsyncScope(() => storage.getStore()) === true
  storage.disable()
  return leaks
})()

module.exports = { Scope }
