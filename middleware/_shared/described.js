'use strict'

/** Of a middleware: what openapi() reads. Another copy of kone may have made it. */
const kDescription = Symbol.for('kone.description')

/**
 * @typedef {object} Description
 * @property {Record<string, any>} [schemas] validate's options: of a request's parts, and of responses by status
 * @property {{ types: string[], methods?: Set<string>, files?: true | any[] }} [body] which types it parses, for which
 *   methods, and upload's fields
 * @property {boolean} [sendsEvents] the response is an event stream
 */

/**
 * @template {Function} T
 * @param {T} fn middleware
 * @param {Description} description
 * @return {T} the same
 * @api private
 */
function described (fn, description) {
  return Object.defineProperty(fn, kDescription, { value: description })
}

/**
 * @param {any} fn middleware, also of other packages
 * @return {Description}
 */
function descriptionOf (fn) {
  return fn[kDescription] ?? {}
}

module.exports = { described, descriptionOf }
