'use strict'

/** Of ctx.response in development: a method that gets the size of a body before `declare` replaces what was set. */
exports.CHECK = Symbol('kone.checkFields')

/** Longer ones are no safe integers. */
const LENGTH = /^\d{1,15}$/

/**
 * Set Content-Length and Transfer-Encoding, which say where a body ends, whatever the app has set: if they were
 * wrong, the client would take the rest of the body for its next response. Once they are sent, they stay as they are.
 *
 * @param {number|null} [size] of the body in bytes; undefined for a stream, null where none is sent and that of
 *   a GET is not known: for both the length counts that the app has declared
 * @param {boolean} [isAdded] by default the size is declared where the app has not
 * @return {number} bytes that the client expects; Infinity if no length is declared
 */
exports.declare = function (response, size, isAdded = true) {
  const { outgoing } = response
  const given = outgoing.getHeader('Content-Length')
  const coding = outgoing.getHeader('Transfer-Encoding')
  response[exports.CHECK]?.(size)
  if (coding === undefined && typeof size === 'number' && (given === undefined ? !isAdded : given === String(size))) return size

  const declared = LENGTH.test(given) ? Number(given) : undefined
  if (outgoing.headersSent) return coding === undefined ? declared ?? Infinity : Infinity
  const length = size ?? declared
  if (coding !== undefined) setCoding(response, length === undefined && size === undefined)
  if (length === undefined) {
    if (given !== undefined) outgoing.removeHeader('Content-Length')
  } else if (String(given) !== String(length)) {
    response.length = length // as Koa: an app may have a setter of its own
  }
  return length ?? Infinity
}

// Node sends no chunks after its removal, and closes the connection.
function setCoding ({ incoming, outgoing }, isChunked) {
  if (isChunked && incoming.httpVersion === '1.1') outgoing.setHeader('Transfer-Encoding', 'chunked')
  else outgoing.removeHeader('Transfer-Encoding')
}
