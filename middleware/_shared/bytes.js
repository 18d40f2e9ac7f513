'use strict'

const bytes = require('bytes')

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
module.exports = function sizeOf (size) {
  if (typeof size === 'string' ? SIZE.test(size) : size >= 0 && size < Infinity) return bytes.parse(size) ?? undefined
}
