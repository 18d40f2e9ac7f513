'use strict'

const { Buffer } = require('node:buffer')
const { EventEmitter } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { call } = require('../call')

/**
 * Uses what node does not document about sockets: reads one without the Readable's machinery, notices who else reads
 * it, marks the response under way as node does, and hands the socket over.
 */

/** Node's own connection listener, the first one of every http.Server. */
const [nodeListener] = new http.Server().listeners('connection')

const { on } = EventEmitter.prototype
const { destroy, end } = net.Socket.prototype

const kConnection = Symbol('kone.connection')

/**
 * May the front read this socket? Only one that the server itself accepted (no 'connection' that other code emits) and
 * that nobody has read, paused or put bytes back into.
 *
 * @param {Duplex} socket
 * @param {http.Server} server
 * @return {boolean}
 */
function isFresh (socket, server) {
  if (!(socket instanceof net.Socket)) return false
  const acceptedBy = socket._server ?? socket._parent?._server // that of a TLS socket is its parent's
  return acceptedBy === server &&
    socket.readableFlowing === null && socket.readableLength === 0 && socket.readableEncoding === null
}

/** Passes the bytes and events of `socket` to `connection`. */
function watch (socket, connection) {
  socket[kConnection] = connection
  socket.server = connection.server
  socket._httpMessage = null
  // The Readable's own `on` would make the socket flow, because one of the events is 'data'.
  for (const [event, listener] of LISTENERS) on.call(socket, event, listener)
  // An own `push` instead of 'data' saves 0.4 to 0.9 µs per read, the cost of the Readable's machinery.
  socket.push = onPush
  socket.unshift = onUnshift
  socket.setEncoding = refuseEncoding
  socket.destroy = destroyFlushed
  socket.end = endFlushed
  socket.read(0)
}

/** Has other code listened for the bytes, or paused the socket? Checked at each read. */
function isTouched (socket) {
  const { data } = socket._events
  return (data !== onData && data !== undefined) || socket.readableFlowing === false
}

/** Does other code read this socket (not just pause it)? */
function isRead (socket) {
  return socket._events.data !== onData || socket.listenerCount('readable') > 0
}

/** Has other code left kone's own listener for the bytes? */
function isShared (socket) {
  return socket.listeners('data').includes(onData)
}

/** Shows bytes that the front reads to the other listeners for 'data'. */
function show (socket, chunk) {
  for (const listener of socket.rawListeners('data')) if (listener !== onData) call(listener.bind(socket), chunk)
}

/** Node's request stream pauses the socket while nobody reads it, and resumes it. */
function watchPauses (socket) {
  if (socket.listeners('pause').includes(onPause)) return
  socket.on('pause', onPause)
  socket.on('resume', onResume)
}

/**
 * Removes kone's listeners and properties from the socket.
 *
 * @return {string[]} events whose listener of kone other code has removed before
 */
function unwatch (socket) {
  const removed = []
  for (const [event, listener] of LISTENERS) if (!socket.listeners(event).includes(listener)) removed.push(event)
  delete socket.push
  delete socket.unshift
  delete socket.setEncoding
  if (socket.destroy === destroyFlushed) delete socket.destroy
  if (socket.end === endFlushed) delete socket.end
  delete socket[kConnection]
  for (const [event, listener] of LISTENERS) socket.off(event, listener)
  socket.off('pause', onPause).off('resume', onResume)
  return removed
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
 * @param {string[]} [removed] events for which other code wants no listener of the server
 */
function handOver (server, socket, reads = [], removed = []) {
  const { timeout } = socket
  const readers = socket.rawListeners('data')
  const isSniffed = socket.listenerCount('readable') > 0
  if (reads.length > 0) {
    if (!isSniffed) socket.readableFlowing = null
    if (socket._handle && !socket._handle.reading) socket._read(0)
    // Otherwise these reads are emitted before the socket's 'resume', and that event undoes a pause of
    // node's parser: Node 20 would buffer the whole of a chunked body that nobody reads.
    socket._readableState.needReadable = isSniffed
    // Read by read, because node's parser treats bytes after an Upgrade by where a read ends.
    for (const chunk of reads.reverse()) socket.unshift(chunk)
  }
  for (const listener of readers) socket.off('data', listener)
  nodeListener.call(server, socket)
  for (const event of removed) {
    if (event !== 'data' || readers.length > 0) socket.off(event, socket.listeners(event).at(-1))
  }
  // Node's parser would read the handle itself, but for listeners that are added now.
  for (const listener of readers) socket.on('data', listener)
  if (isSniffed) socket.on('data', ignore).off('data', ignore)
  if (reads.length > 0 && socket.timeout !== timeout) socket.setTimeout(timeout || 0)
}

function ignore () {}

// ---- methods of the socket

function destroyFlushed (err) {
  flush(this)
  return destroy.call(this, err)
}

function endFlushed (...args) {
  flush(this)
  return end.apply(this, args)
}

/** Writes the responses that have ended in this tick: node would have written them already. */
function flush (socket) {
  const connection = socket[kConnection]
  if (connection === undefined || !connection.responses.isBatching) return
  while (socket.writableCorked > 0) socket.uncork() // destroy() drops what is corked
  connection.responses.flush()
}

// ---- listeners; `this` is the socket

function onPush (chunk, encoding) {
  const connection = this[kConnection]
  // After a handover, false would stop a handle that node reads.
  if (chunk !== null) return connection.read(bytesOf(chunk, encoding)) || this[kConnection] !== connection
  delete this.push
  return this.push(null)
}

/** Other code puts bytes back. */
function onUnshift (chunk, encoding) {
  if (chunk === null) return this.push(null)
  if (chunk.length > 0) this[kConnection].putBack(bytesOf(chunk, encoding))
  return true
}

/** As node's: its parser ends the process when it gets a string. */
function refuseEncoding () {
  const err = new Error('Changing the socket encoding is not allowed per RFC7230 Section 3.')
  throw Object.assign(err, { code: 'ERR_HTTP_SOCKET_ENCODING' })
}

/** Other code emits bytes. */
function onData (chunk) {
  this[kConnection].read(bytesOf(chunk))
}

/** @return {Buffer} */
function bytesOf (chunk, encoding) {
  if (typeof chunk === 'string') return Buffer.from(chunk, encoding)
  return chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
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

const LISTENERS = Object.entries({
  error: onError, end: onEnd, close: onClose, drain: onDrain, timeout: onTimeout, data: onData
})

module.exports = {
  nodeListener,
  kConnection,
  isFresh,
  watch,
  watchPauses,
  unwatch,
  isTouched,
  isRead,
  isShared,
  show,
  setMessage,
  handOver
}
