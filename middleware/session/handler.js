'use strict'

const { given, misuse } = require('../_shared/misuse')

/**
 * `ctx.sessionHandler`: the methods of a session that its data cannot hide.
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
    if (maxAge !== 'session' && !(maxAge >= 0)) throw misuse('session', `maxAge must be milliseconds or 'session', not ${given(maxAge)}`)
    this.#session.maxAge = maxAge
  }
}
