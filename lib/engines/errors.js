'use strict'

const { error } = require('../core/errors')

/** The errors that every engine reports alike. */

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
  const err = new Error('the connection closed before the response was sent')
  err.code = 'KONE_ERR_RESPONSE_LOST'
  if (cause) err.cause = cause
  return err
}

/** Node's own error for a connection that the other side has closed. */
exports.reset = function () {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}
