'use strict'

const http = require('node:http')

/**
 * What the front needs of a socket that is not documented, or only as a detail of node's: to read it without
 * the Readable's machinery, to mark whose turn it is as node does, and to hand it over.
 */

/** Node's own connection listener: every http.Server gets it first. */
const [nodeListener] = new http.Server().listeners('connection')

const kConnection = Symbol('kone.connection')

/** Sends everything that happens on `socket` to `connection`. */
function watch (socket, connection) {
  socket[kConnection] = connection
  socket.server = connection.server
  socket._httpMessage = null
  socket.on('error', onError)
  socket.on('end', onEnd)
  socket.on('close', onClose)
  socket.on('drain', onDrain)
  socket.on('timeout', onTimeout)
  // Own `push` instead of 'data': saves the Readable's machinery (measured: 0.4 to 0.9 µs a read).
  socket.push = onPush
  socket.read(0)
}

/** Node's request stream pauses the socket while nobody reads it, and resumes it. */
function watchPauses (socket) {
  if (socket.listeners('pause').includes(onPause)) return
  socket.on('pause', onPause)
  socket.on('resume', onResume)
}

/** Takes everything of ours off the socket. */
function unwatch (socket) {
  delete socket.push
  delete socket[kConnection]
  socket.off('error', onError).off('end', onEnd).off('close', onClose).off('drain', onDrain).off('timeout', onTimeout)
  socket.off('pause', onPause).off('resume', onResume)
}

/** As node: whose turn it is. */
function setMessage (socket, message) {
  socket._httpMessage = message
}

/**
 * Gives a socket to node:http.
 *
 * @param {http.Server} server
 * @param {net.Socket} socket
 * @param {Buffer[]} [reads] of it, that node shall see first
 */
function handOver (server, socket, reads = []) {
  if (reads.length > 0) {
    socket.readableFlowing = null
    if (socket.timeout) socket.setTimeout(0)
    if (socket._handle && !socket._handle.reading) socket._read(0)
    // Otherwise these reads are emitted before the socket's 'resume', and that event undoes a pause of
    // node's parser: on Node 20 a chunked body that nobody reads would be buffered whole.
    socket._readableState.needReadable = false
    // Read by read: what node's parser does behind an Upgrade depends on where a read ends.
    for (const chunk of reads.reverse()) socket.unshift(chunk)
  }
  nodeListener.call(server, socket)
}

// ---- listeners; `this` is the socket

function onPush (chunk) {
  const connection = this[kConnection]
  // Handed over meanwhile: false would stop a handle whose reads are node's now.
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
