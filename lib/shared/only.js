'use strict'

/** The properties that have a value, as Koa prints its objects. */
module.exports = function only (object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value != null))
}
