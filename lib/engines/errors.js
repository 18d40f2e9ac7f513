'use strict'

/** The errors that every engine reports alike. */

/** Makes an error with a status. Kone's are those of http-errors, as of `ctx.throw()`: see ../core/errors.js. */
let make = (status, message, props) => {
  return Object.assign(new Error(message), { status, statusCode: status, expose: status < 500 }, props)
}

/** @param {(status: number, message: string, props?: object) => Error} fn */
exports.madeBy = function (fn) {
  make = fn
}

/**
 * An error of kone's own.
 *
 *    throw error('KONE_ERR_BODY_LIMIT', 413, 'the body is longer than 1024 bytes', { limit: 1024 })
 */
function error (code, status, message, props) {
  return make(status, message, { ...props, code })
}

exports.error = error

/** @param {number} limit in bytes */
exports.tooLong = function (limit) {
  return error('KONE_ERR_BODY_LIMIT', 413, `the body is longer than ${limit} bytes`, { limit })
}

/** @param {number} received bytes that arrived before the client closed the connection */
exports.aborted = function (received) {
  return error('KONE_ERR_BODY_ABORTED', 400, 'the request was aborted', { received })
}

exports.used = function (message = 'the body was read before, as a stream, or skipped because the response was sent') {
  return error('KONE_ERR_BODY_USED', 500, message)
}

/**
 * A response that was not flushed when its connection closed. It has no status, because no response can be sent.
 *
 * @param {Error|null} [cause] the connection's own error
 */
exports.responseLost = function (cause) {
  const err = new Error('the connection closed before the response was sent', cause ? { cause } : undefined)
  return Object.assign(err, { code: 'KONE_ERR_RESPONSE_LOST' })
}

/** Node's own error for a connection that the other side has closed. */
exports.reset = function () {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}
