'use strict'

/**
 * The properties that have a value, as Koa prints its objects.
 *
 * @param {object} object
 * @return {object}
 * @api private
 */
module.exports = function only (object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value != null))
}
