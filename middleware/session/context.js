'use strict'

const Handler = require('./handler')

const CURRENT = Symbol('session')

/**
 * `session` and `sessionHandler` on the app's context, not on each ctx: a request then pays for
 * them only when it reads them.
 */
function expose (ctx) {
  const context = ctx.app?.context
  const shared = context !== undefined && Object.prototype.isPrototypeOf.call(context, ctx)
  Object.defineProperties(shared ? context : ctx, ACCESSORS)
}

const ACCESSORS = {
  [CURRENT]: { value: undefined, writable: true, configurable: true },

  session: {
    configurable: true,
    enumerable: true,
    get () { return this[CURRENT]?.read() },
    set (value) {
      if (this[CURRENT] === undefined) own(this, 'session', value)
      else this[CURRENT].write(value)
    }
  },

  sessionHandler: {
    configurable: true,
    enumerable: true,
    get () {
      const current = this[CURRENT]
      if (current === undefined) return undefined
      current.handler ??= new Handler(current)
      return current.handler
    },
    set (value) { own(this, 'sessionHandler', value) }
  }
}

// A request that does not pass through here may have another one's session.
function own (ctx, name, value) {
  Object.defineProperty(ctx, name, { value, writable: true, enumerable: true, configurable: true })
}

module.exports = { CURRENT, expose }
