'use strict'

/**
 * The stream of a request or response of node:http2. On HTTP/1 `stream` may be a method that somebody has set:
 * webpack-dev-middleware sets one.
 *
 * @param {object} message req or res
 * @return {http2.Http2Stream|undefined}
 */
module.exports = function http2Stream ({ stream }) {
  return typeof stream === 'object' && stream !== null ? stream : undefined
}
