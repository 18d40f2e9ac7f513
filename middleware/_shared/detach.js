'use strict'

const SHORTEST_SLICE = 13 // characters; V8 copies a shorter part, a longer one keeps the string that it is part of

/**
 * Copy a text that is kept for longer than its request: a part of a header or a path would keep all of it in memory.
 *
 *    seen.add(detach(address))
 *
 * @param {string} text
 * @return {string} an equal one
 * @api private
 */
module.exports = function detach (text) {
  return text.length < SHORTEST_SLICE ? text : (' ' + text).slice(1)
}
