'use strict'

const http = require('node:http')

/**
 * Uses what node does not document about sockets: reads one without the Readable's machinery, marks the response
 * under way as node does, and hands the socket over.
 */

/** Node's own connection listener, the first one of every http.Server. */
const [nodeListener] = new http.Server().listeners('connection')

const kConnection = Symbol('kone.connection')

/** Passes the bytes and events of `socket` to `connection`. */
function watch (socket, connection) {
  socket[kConnection] = connection
  socket.server = connection.server
  socket._httpMessage = null
  socket.on('error', onError)
  socket.on('end', onEnd)
  socket.on('close', onClose)
  socket.on('drain', onDrain)
  socket.on('timeout', onTimeout)
  // An own `push` instead of 'data' saves 0.4 to 0.9 µs per read, the cost of the Readable's machinery.
  socket.push = onPush
  socket.read(0)
}

/** Node's request stream pauses the socket while nobody reads it, and resumes it. */
function watchPauses (socket) {
  if (socket.listeners('pause').includes(onPause)) return
  socket.on('pause', onPause)
  socket.on('resume', onResume)
}

/** Removes kone's listeners and properties from the socket. */
function unwatch (socket) {
  delete socket.push
  delete socket[kConnection]
  socket.off('error', onError).off('end', onEnd).off('close', onClose).off('drain', onDrain).off('timeout', onTimeout)
  socket.off('pause', onPause).off('resume', onResume)
}

/** Marks the response that writes to the socket now, as node does. */
function setMessage (socket, message) {
  socket._httpMessage = message
}

/**
 * Gives a socket to node:http.
 *
 * @param {http.Server} server
 * @param {net.Socket} socket
 * @param {Buffer[]} [reads] of this socket that node must parse first
 */
function handOver (server, socket, reads = []) {
  if (reads.length > 0) {
    socket.readableFlowing = null
    if (socket.timeout) socket.setTimeout(0)
    if (socket._handle && !socket._handle.reading) socket._read(0)
    // Otherwise these reads are emitted before the socket's 'resume', and that event undoes a pause of
    // node's parser: Node 20 would buffer the whole of a chunked body that nobody reads.
    socket._readableState.needReadable = false
    // Read by read, because node's parser treats bytes after an Upgrade by where a read ends.
    for (const chunk of reads.reverse()) socket.unshift(chunk)
  }
  nodeListener.call(server, socket)
}

// ---- listeners; `this` is the socket

function onPush (chunk) {
  const connection = this[kConnection]
  // After a handover, false would stop a handle that node reads.
  if (chunk !== null) return connection.read(chunk) || this[kConnection] !== connection
  delete this.push
  return this.push(null)
}

function onError (err) {
  this[kConnection].onError(err)
}

function onEnd () {
  this[kConnection].onEnd()
}

function onClose () {
  this[kConnection].onClose()
}

function onDrain () {
  this[kConnection].onDrain()
}

function onTimeout () {
  this[kConnection].onTimeout()
}

function onPause () {
  this[kConnection].onPause()
}

function onResume () {
  this[kConnection].bodyIsRead()
}

module.exports = { nodeListener, kConnection, watch, watchPauses, unwatch, setMessage, handOver }
