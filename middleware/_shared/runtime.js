'use strict'

const { elsewhere } = require('../../lib/shared/runtime')
const { misuse } = require('./usage-error')

/**
 * Refuse, at registration, what cannot work on another runtime than Node.
 *
 *    needsNode('isolate', 'Bun and Deno do not say which request an uncaught error belongs to')
 *
 * @param {string} owner the middleware or its option
 * @param {string} reason
 * @throws {TypeError} on Bun and Deno
 * @api private
 */
exports.needsNode = function (owner, reason) {
  if (elsewhere !== '') throw misuse(owner, `it works on Node only, because ${reason}`)
}
