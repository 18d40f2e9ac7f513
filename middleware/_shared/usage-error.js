'use strict'

const { given } = require('../../lib/shared/usage-error')

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
 * What a function of the options has returned. Nothing would wait for a promise, which counts as true.
 *
 *    noPromise('compress', 'options.filter', filter(type))
 *
 * @param {string} owner
 * @param {string} name
 * @param {*} returned
 * @return {*} the same
 * @throws {TypeError} for a promise
 */
function noPromise (owner, name, returned) {
  if (typeof returned?.then !== 'function') return returned
  returned.then(undefined, () => {}) // a second error would end the process
  throw misuse(owner, `${name} must not be async, and not return a promise`)
}

module.exports = { given, manual, misuse, noPromise }
