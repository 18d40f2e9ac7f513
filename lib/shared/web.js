'use strict'

/** Fields of one connection only (RFC 9110, 7.6.1): the server that sends a Response decides them. */
const HOP_BY_HOP = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'
])

/**
 * Whether a value is an instance of a web class. Reading such a global may load megabytes (`Response` takes 20 ms, and
 * with `--jitless` ends a process on Node 20 and 22), so it is read only for a value with its tag. Some environments
 * have none (Jest's jsdom).
 *
 *    isResponse(ctx.body)
 */
function isA (name) {
  return value => value?.[Symbol.toStringTag] === name && isInstance(value, globalThis[name])
}

function isInstance (value, Class) {
  return typeof Class === 'function' && value instanceof Class
}

/** Reading `Blob` loads nothing, and a File has a tag of its own. */
function isBlob (value) {
  return isInstance(value, globalThis.Blob)
}

module.exports = { HOP_BY_HOP, isBlob, isResponse: isA('Response'), isWebStream: isA('ReadableStream') }
