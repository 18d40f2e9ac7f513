'use strict'

/**
 * Whether a value is an instance of a web class. The global is read when it is needed: it may be a getter that loads
 * megabytes, and some environments have none (older versions of Jest, sandboxes).
 *
 *    isBlob(ctx.body)
 */
function isA (name) {
  return value => {
    const Class = globalThis[name]
    return typeof Class === 'function' && value instanceof Class
  }
}

exports.isBlob = isA('Blob')
exports.isWebStream = isA('ReadableStream')
exports.isResponse = isA('Response')
