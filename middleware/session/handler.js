'use strict'

/**
 * `ctx.sessionHandler`: what can be done with a session, whatever is in it.
 */
module.exports = class Handler {
  #session

  constructor (session) {
    this.#session = session
    this.regenerateId = () => session.renew()
    this.save = () => session.saveNow()
  }

  get isNew () {
    if (this.#session.text === undefined) this.#session.load()
    return this.#session.isNew
  }

  get maxAge () {
    if (this.#session.text === undefined) this.#session.load()
    return this.#session.maxAge
  }

  set maxAge (maxAge) {
    if (maxAge !== 'session' && !(maxAge >= 0)) throw new TypeError("maxAge must be milliseconds or 'session'")
    this.#session.maxAge = maxAge
  }
}
