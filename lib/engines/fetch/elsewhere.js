'use strict'

/**
 * The runtime's name where node's classes are a copy by another one, which does not work without that
 * runtime's own server; empty on Node.
 */
module.exports = process.versions.bun ? 'Bun' : globalThis.Deno ? 'Deno' : ''
