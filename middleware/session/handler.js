'use strict'

const { given, misuse } = require('../_shared/usage-error')

/**
 * `ctx.sessionHandler`: the methods of a session that its data cannot hide.
 */
module.exports = class Handler {
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
    if (maxAge !== 'session' && !(maxAge >= 0)) throw misuse('session', `maxAge must be milliseconds or 'session', not ${given(maxAge)}`)
    this.#session.maxAge = maxAge
  }
}
