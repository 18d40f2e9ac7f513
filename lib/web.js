'use strict'

/** Fields of one connection only (RFC 9110, 7.6.1): the server that sends a Response decides them. */
const HOP_BY_HOP = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'
])

/**
 * Whether a value is an instance of a web class. Such a global is a getter until something reads it: that loads
 * megabytes (`typeof Response` takes 20 ms), and ends a process with `--jitless` on Node 20. Until then it is read only
 * for a value with its tag, because fetch() returns a Response without it. Some environments have none (Jest's jsdom).
 *
 *    isBlob(ctx.body)
 */
function isA (name) {
  return value => {
    if (value?.[Symbol.toStringTag] !== name && isUnread(name)) return false
    const Class = globalThis[name]
    return typeof Class === 'function' && value instanceof Class
  }
}

function isUnread (name) {
  return Object.getOwnPropertyDescriptor(globalThis, name)?.get !== undefined
}

module.exports = { HOP_BY_HOP, isBlob: isA('Blob'), isResponse: isA('Response'), isWebStream: isA('ReadableStream') }
