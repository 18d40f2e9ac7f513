'use strict'

const { STATUS_CODES } = require('http')
const { emit } = require('./call')

/**
 * Reports protocol errors as node:http does: emits 'clientError' on the server; without a listener sends a response
 * without a body and closes the connection.
 */
function refuse (socket, err) {
  if (emit(socket.server, 'clientError', err, socket)) return
  const message = socket._httpMessage
  // Node checks whether the header section was written, not whether writeHead() was called.
  if (socket.writable && !(message && (message._headerSent ?? message.headersSent))) {
    const status = STATUS[err.code] || 400
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`, 'latin1')
  }
  socket.destroy(err)
}

const STATUS = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431
}

function requestTimeout () {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
}

function unexpectedEnd () {
  const reason = 'Invalid EOF state'
  return Object.assign(new Error('Parse Error'), { bytesParsed: 0, code: 'HPE_INVALID_EOF_STATE', reason })
}

/** `bytesParsed` of the read include the first unexpected one. */
function behindLast (rawPacket, bytesParsed) {
  return parseError('HPE_CLOSED_CONNECTION', 'Data after `Connection: close`', rawPacket, bytesParsed)
}

/** In a chunked body. */
function noLineBreak (rawPacket, bytesParsed) {
  return parseError('HPE_STRICT', 'Expected CR and LF', rawPacket, bytesParsed)
}

function parseError (code, reason, rawPacket, bytesParsed) {
  return Object.assign(new Error(`Parse Error: ${reason}`), { bytesParsed, code, reason, rawPacket })
}

/** What node passes to the callback of a write that the socket did not take. */
function notWritten (socket) {
  if (socket.errored) return socket.errored
  return Object.assign(new Error('Cannot call write after a stream was destroyed'), { code: 'ERR_STREAM_DESTROYED' })
}

module.exports = { refuse, requestTimeout, unexpectedEnd, behindLast, noLineBreak, notWritten }
