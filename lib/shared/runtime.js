'use strict'

/** Bun or Deno, whose copies of node's modules differ from node's; empty on Node. */
exports.elsewhere = process.versions.bun ? 'Bun' : globalThis.Deno ? 'Deno' : ''
