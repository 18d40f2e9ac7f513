'use strict'

const bytes = require('bytes')
const { Rule } = require('../../lib/shared/options')

// the package reads '12 apples' as 12
const SIZE = /^\d+(?:\.\d+)? *(?:[kmgt]?b)?$/i

/**
 * A size as Koa's packages write it, in bytes.
 *
 *    sizeOf('56kb')   // 57344
 *
 * @param {number|string} size 1024, '56kb' or '1.5 MB'
 * @return {number|undefined} undefined for what is not a size
 */
function sizeOf (size) {
  if (typeof size === 'string' ? SIZE.test(size) : size >= 0 && size < Infinity) return bytes.parse(size) ?? undefined
}

/** What an option of such a size must be. */
const size = new Rule("a number of bytes or a string such as '1mb'", value => sizeOf(value) !== undefined, undefined,
  'number | string', "bytes, or as `'1mb'`")

module.exports = { size, sizeOf }
