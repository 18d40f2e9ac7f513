'use strict'

/**
 * The one range that a Range header names.
 *
 *     Range = "bytes=" ( first-pos "-" [ last-pos ] / "-" suffix-length )
 *
 *    parseRange('bytes=0-99') // { first: '0', last: '99' }
 *    parseRange('bytes=-5')   // { first: '', last: '5' }
 *
 * By hand: a regexp with blanks allowed at five places is cubic in them.
 *
 * @param {string} header
 * @return {{ first: string, last: string }|undefined} digits; undefined for several ranges or none
 * @api private
 */
module.exports = function parseRange (header) {
  const equals = header.indexOf('=')
  const dash = header.indexOf('-', equals)
  if (equals === -1 || dash === -1) return
  if (header.slice(0, equals).trim().toLowerCase() !== 'bytes') return

  const first = header.slice(equals + 1, dash).trim()
  const last = header.slice(dash + 1).trim()
  if (NO_DIGIT.test(first) || NO_DIGIT.test(last)) return
  return { first, last }
}

const NO_DIGIT = /\D/
