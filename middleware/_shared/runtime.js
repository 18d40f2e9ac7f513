'use strict'

const { misuse } = require('./usage-error')

/** Bun or Deno, whose copies of node's modules differ from node's; empty on Node. */
const name = process.versions.bun ? 'Bun' : globalThis.Deno ? 'Deno' : ''

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
  if (name !== '') throw misuse(owner, `it works on Node only, because ${reason}`)
}
