'use strict'

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')

/**
 * Runs requests in the async context of their connection, as node's parser does. The next request does not see the
 * store of a handler that called `AsyncLocalStorage.enterWith`. Connections with the context of `listen()` share one.
 */
class Scope {
  constructor (isOwn = false) {
    this.isOwn = isOwn
    this.resource = new AsyncResource('KONEFRONT', { requireManualDestroy: true })
    this.hasStores = hasStores(this.resource)
  }

  /** @return {Scope} this one if it has the current context, otherwise a new one for one connection */
  orOwn () {
    const own = new Scope(true)
    const symbols = new Set([this, own].flatMap(({ resource }) => Object.getOwnPropertySymbols(resource)))
    for (const symbol of symbols) {
      if (!NO_STORES.includes(symbol.description) && own.resource[symbol] !== this.resource[symbol]) return own
    }
    own.destroy()
    return this
  }

  /** Calls `fn(...args)` in this context. */
  run (fn, ...args) {
    return this.resource.runInAsyncScope(fn, null, ...args)
  }

  /**
   * Calls a request's handler, in a scope only where one is needed, because a scope costs as much as two layers of
   * middleware.
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

  /** The server or the connection is closed: tools that list open handles see this one as done. */
  destroy () {
    this.resource.emitDestroy()
  }
}

function inOwnResource (fn, one, two) {
  new AsyncResource('KONEREQUEST').runInAsyncScope(fn, null, one, two)
}

/** Does the resource hold more than its ids: stores of an AsyncLocalStorage, or a frame of them? */
function hasStores (resource) {
  return Object.getOwnPropertySymbols(resource)
    .some(symbol => !NO_STORES.includes(symbol.description) && resource[symbol] !== undefined)
}

const NO_STORES = ['async_id_symbol', 'trigger_async_id_symbol', 'destroyed']

/** Up to Node 22 `enterWith` writes into the running resource, so each request gets its own resource there. */
const LEAKS = (() => {
  const storage = new AsyncLocalStorage()
  const resource = new AsyncResource('KONEREQUEST')
  resource.runInAsyncScope(() => storage.enterWith(true))
  const leaks = resource.runInAsyncScope(() => storage.getStore()) === true
  storage.disable()
  return leaks
})()

module.exports = { Scope }
