'use strict'

const { inspect } = require('node:util')

const LONG = 20 // characters: longer text may be a key or a password, which must not be in a log

/**
 * The error of a call or an option that cannot work: what is wrong, and the page to read.
 *
 *    throw misuse('compose-and-final', `app.final(fn): fn must be a function, not ${given(fn)}`)
 *    // TypeError: app.final(fn): fn must be a function, not 5 (kone/docs/api/compose-and-final.md)
 *
 * @param {string} page name of a page of docs/api/
 * @param {string} message
 * @return {TypeError}
 * @api private
 */
function misuse (page, message) {
  return new TypeError(`${message} (kone/docs/api/${page}.md)`)
}

/**
 * A value in a message: of an object only its class, of a long text only its length.
 *
 *    given('1d')      // "'1d'"
 *    given(new Map()) // '[Map]'
 *
 * @param {*} value
 * @return {string}
 * @api private
 */
function given (value) {
  if (typeof value === 'string' && value.length > LONG) return `a string of ${value.length} characters`
  return inspect(value, { depth: -1 })
}

module.exports = { given, misuse }
