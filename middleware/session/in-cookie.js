'use strict'

const { Cookie } = require('cookies')
const { recordOf } = require('./record')

const MAX_COOKIE = 4096 // bytes; RFC 6265, 6.1: name, value and attributes

/**
 * Sessions that are stored in their cookie.
 */
module.exports = class InCookie {
  /**
   * @param {string} key name of the cookie
   * @param {{ seal: Function, open: Function }} sealed
   */
  constructor (key, sealed) {
    this.key = key
    this.sealed = sealed
    this.lazy = true
    this.isSealed = true
    this.isUp = true
  }

  load (value) {
    return recordOf(this.sealed.open(this.key, value))
  }

  /**
   * @throws {Error} 500 (`KONE_ERR_SESSION_SIZE`) for a session whose cookie is longer than clients accept
   */
  save (session, text, { ttl, attributes }) {
    const value = this.sealed.seal(this.key, session, ttl)
    const { length } = new Cookie(this.key, value, { ...attributes, secure: true }).toHeader()
    if (length > MAX_COOKIE) throw tooLarge(length)
    return value
  }

  extend (session, text, how) {
    return this.save(session, text, how)
  }

  drop () {}
}

function tooLarge (length) {
  const err = new Error(`the sealed session makes a cookie of ${length} bytes, ${MAX_COOKIE} fit`)
  return Object.assign(err, { code: 'KONE_ERR_SESSION_SIZE', status: 500 })
}
