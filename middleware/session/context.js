'use strict'

const { UNSAVED, defineValue, onContext } = require('../_shared/context')

const CURRENT = Symbol('session')

/** `session` and `sessionHandler` of every ctx of this app. */
function expose (ctx) {
  onContext(ctx, ACCESSORS)
}

const ACCESSORS = {
  [CURRENT]: { value: undefined, writable: true, configurable: true },

  session: {
    configurable: true,
    enumerable: true,
    get () { return this[CURRENT]?.read() },
    set (value) {
      // a request that does not pass through here may have another one's session
      if (this[CURRENT] === undefined) defineValue(this, 'session', value)
      else this[CURRENT].write(value)
    }
  },

  [UNSAVED]: {
    get () { return this[CURRENT]?.isUnsaved() ?? false }
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
    set (value) { defineValue(this, 'sessionHandler', value) }
  }
}

/**
 * `ctx.sessionHandler`: the methods of a session that its data cannot hide.
 */
class Handler {
  #session

  constructor (session) {
    this.#session = session
    this.regenerateId = () => session.renew()
    this.save = () => session.saveNow()
    this.load = async () => {
      await session.load()
      session.ready()
    }
  }

  get isNew () {
    this.#session.ready()
    return this.#session.isNew
  }

  get maxAge () {
    this.#session.ready()
    return this.#session.maxAge
  }

  set maxAge (maxAge) {
    this.#session.maxAge = maxAge
  }
}

module.exports = { CURRENT, expose }
