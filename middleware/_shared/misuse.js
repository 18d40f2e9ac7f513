'use strict'

const LONG = 20 // characters: longer text may be a key or a password, which must not be in a log

/**
 * The error of a registration that cannot work: what is wrong, and the page to read.
 *
 *    throw misuse('timeout', `ms must be a number from 1 to ${MAX}, not ${given(ms)}`)
 *
 * @param {string} owner name of the middleware, or of a function of it: `session.redis`
 * @param {string} message
 * @param {{ cause?: Error }} [options]
 * @return {TypeError}
 * @api private
 */
function misuse (owner, message, options) {
  return new TypeError(`${owner}: ${message} (${manual(owner)})`, options)
}

/**
 * @param {string} owner
 * @return {string} path of its page in the package
 */
function manual (owner) {
  return `kone/middleware/${/^\w+/.exec(owner)[0]}/README.md`
}

/**
 * A value in a message, without what may be secret.
 *
 *    given('1d')       // "'1d'"
 *    given(['a'])      // 'an array'
 *    given(undefined)  // 'undefined'
 *
 * @param {*} value
 * @return {string}
 */
function given (value) {
  if (typeof value === 'string') {
    const isShort = value.length <= LONG && !value.includes('://')
    return isShort ? `'${value.replace(/[^ -~]/g, '?')}'` : `a string of ${value.length} characters`
  }
  if (typeof value === 'function') return value.name ? `the function ${value.name.slice(0, LONG)}` : 'a function'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object' || value === null) return String(value)
  const name = value.constructor?.name
  return name && name !== 'Object' ? `an object of class ${name.slice(0, LONG)}` : 'an object'
}

module.exports = { given, manual, misuse }
