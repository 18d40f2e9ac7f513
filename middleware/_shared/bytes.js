'use strict'

const UNITS = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/**
 * A size as Koa's packages write it, in bytes.
 *
 *    bytes('56kb', 'bodyParser: options.formLimit') // 57344
 *
 * @param {Number|String} size 1024, '56kb', '1.5mb'
 * @param {String} name of the option, for the message
 * @return {Number}
 * @throws {TypeError} if it is no size
 * @api private
 */
module.exports = function bytes (size, name) {
  const [, number, unit] = /^(\d+(?:\.\d+)?) *(b|kb|mb|gb|)$/i.exec(size) || []
  if (number === undefined) throw new TypeError(`${name} must be a number of bytes or a string as '1mb'`)
  return Math.floor(number * UNITS[unit.toLowerCase()])
}
