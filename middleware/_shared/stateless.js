'use strict'

/**
 * A RegExp without the flags g and y, with which test() goes on where the last call ended.
 *
 *    stateless(/^\/a/gi)   // /^\/a/i
 *
 * @param {RegExp} regexp
 * @return {RegExp} the same one if it has neither
 */
module.exports = function stateless (regexp) {
  return regexp.global || regexp.sticky ? new RegExp(regexp, regexp.flags.replace(/[gy]/g, '')) : regexp
}
