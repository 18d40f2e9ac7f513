'use strict'

const { isObject } = require('../../lib/shared/options')

/**
 * What a storage finds: `{ value, text }`, the session and its JSON if that is at hand; or nothing. It may also have
 * a `ttl`, the ms until it expires, and a `problem`, an error to report.
 */
const NOTHING = Object.freeze({ value: undefined, text: undefined })

/**
 * @param {*} value that a store gave back: somebody else may have put it there
 * @param {string} [text] its JSON
 * @return {{ value: object|undefined, text: string|undefined }}
 */
function recordOf (value, text) {
  return isObject(value) ? { value, text } : NOTHING
}

module.exports = { NOTHING, recordOf }
