'use strict'

const { Buffer } = require('buffer')
const { EventEmitter } = require('events')
const net = require('net')
const { call } = require('../call')
const { RESETS } = require('./probe')
const turn = require('../turn')

/**
 * Uses what node does not document about sockets: passes the bytes and events of one to its connection without the
 * Readable's machinery, notices who else reads it, and marks the response under way as node does.
 */

const { on } = EventEmitter.prototype
const { _final, destroy, end, push, setEncoding, unshift } = net.Socket.prototype

const kConnection = Symbol('kone.connection')
const kAsyncId = Object.getOwnPropertySymbols(new net.Socket()).find(symbol => symbol.description === 'async_id_symbol')

/**
 * May the front read this socket? Only one that the server itself accepted (no 'connection' that other code emits) and
 * that nobody has read, paused or put bytes back into.
 */
function isFresh (socket, server) {
  if (!(socket instanceof net.Socket)) return false
  const acceptedBy = socket._server ?? socket._parent?._server // that of a TLS socket is its parent's
  return acceptedBy === server &&
    socket.readableFlowing === null && socket.readableLength === 0 && socket.readableEncoding === null
}

/**
 * Gives the handle of an accepted socket, and so all events of the socket, the current async context. Libuv makes it
 * outside of any callback: since Node 24 it has the context of the last error that an 'uncaughtException' listener has
 * caught, and strangers would see the stores of a failed request.
 */
function takeContext (socket) {
  const handle = socket._handle
  if (!RESETS || !handle) return
  handle.asyncReset(handle)
  socket[kAsyncId] = handle.getAsyncId()
}

/** Passes the bytes and events of `socket` to `connection`. */
function watch (socket, connection) {
  socket[kConnection] = connection
  socket.server = connection.server
  socket._httpMessage = null
  // The Readable's own `on` would make the socket flow, because one of the events is 'data'.
  for (const [event, listener] of LISTENERS) on.call(socket, event, listener)
  // A `push` of the socket's own in place of 'data' saves what the Readable does per read, 0.4 to 0.9 µs.
  socket.push = onPush
  socket.unshift = onUnshift
  socket.setEncoding = refuseEncoding
  socket.destroy = destroyWritten
  socket.end = endWritten
  if (!socket._handle?.reading) socket.read(0)
}

/**
 * Node's request stream pauses the socket while nobody reads it, and resumes it. Once node has the socket, that is no
 * concern of the front.
 */
function watchPauses (socket) {
  if (socket[kConnection] === undefined || socket.listeners('pause').includes(onPause)) return
  socket.on('pause', onPause)
  socket.on('resume', onResume)
}

/** Undoes watch(). @return {string[]} events of which other code has removed kone's listener before */
function unwatch (socket) {
  const removed = []
  for (const [event, listener] of LISTENERS) {
    const now = socket._events[event]
    if (now !== listener && !(Array.isArray(now) && now.includes(listener))) removed.push(event)
    else socket.off(event, listener)
  }
  socket.off('pause', onPause).off('resume', onResume)
  // Node's own in their place: an object that loses a property is slow for all later use (15 µs per connection).
  socket.push = push
  socket.unshift = unshift
  socket.setEncoding = setEncoding
  if (socket.destroy === destroyWritten) socket.destroy = destroy
  if (socket.end === endWritten) socket.end = end
  socket[kConnection] = undefined
  return removed
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

/** These bytes and all later ones are for other code, by the Readable. */
function giveUp (socket, chunk) {
  socket.push = push
  call(() => socket.push(chunk)) // it calls listeners for 'data'
}

/** Marks the response that writes to the socket now, as node does. */
function setMessage (socket, message) {
  socket._httpMessage = message
}

// ---- methods of the socket

function destroyWritten (err) {
  writeTick(this, false)
  return destroy.call(this, err)
}

function endWritten (...args) {
  writeTick(this, true)
  return end.apply(this, args)
}

/**
 * Writes what node would have written already: the responses that have ended in this tick, and parts of the first one.
 *
 * @param {boolean} isEnd end() also sends the parts of this tick, which node would have corked
 */
function writeTick (socket, isEnd) {
  const responses = socket[kConnection]?.responses
  if (responses?.hasUnflushed) {
    while (socket.writableCorked > 0) socket.uncork() // destroy() drops what is corked
    responses.writeBatch()
  }
  responses?.first?.sendDue(isEnd)
}

/**
 * Ends this socket after its last response. Everything was given to the system once _final() is called, and destroy()
 * follows: it sends the FIN, and a shutdown() before it costs 5 to 10 % of a connection with one request.
 */
function endSoon (socket) {
  if (socket._final === _final && !socket.encrypted) socket._final = onFinal
  socket.destroySoon()
}

/** @param {Function} done emits 'finish' */
function onFinal (done) {
  turn.atEnd(this[kConnection], call, done)
}

function onPush (chunk, encoding) {
  const connection = this[kConnection]
  if (chunk === null) return connection.onReadEnd()
  const bytes = chunk instanceof Buffer ? chunk : bytesOf(chunk, encoding)
  // After a handover, false would stop a handle that node reads.
  return connection.onRead(bytes) || this[kConnection] !== connection
}

/** The Readable has nothing else to wait for, so it emits 'end' in the next tick. */
function pushEnd (socket) {
  socket.push = push
  socket.push(null)
  socket.read(0)
}

/** Other code puts bytes back. */
function onUnshift (chunk, encoding) {
  if (chunk === null) return this.push(null)
  if (chunk.length > 0) this[kConnection].onPutBack(bytesOf(chunk, encoding))
  return true
}

function bytesOf (chunk, encoding) {
  if (typeof chunk === 'string') return Buffer.from(chunk, encoding)
  return chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

/** As node's: its parser ends the process when it gets a string. */
function refuseEncoding () {
  const err = new Error('Changing the socket encoding is not allowed per RFC7230 Section 3.')
  throw Object.assign(err, { code: 'ERR_HTTP_SOCKET_ENCODING' })
}

// ---- listeners

/** Other code emits bytes. */
function onData (chunk) {
  this[kConnection]?.onRead(bytesOf(chunk))
}

const onPause = listener('onPause')
const onResume = listener('onBodyRead')

const LISTENERS = Object.entries({
  error: listener('onError'),
  end: listener('onEnd'),
  close: listener('onClose'),
  drain: listener('onDrain'),
  timeout: listener('onTimeout'),
  data: onData
})

/**
 * An event of the socket. It may have no connection by now: a listener before this one may have ended the last
 * response, after which node gets the socket.
 *
 * @param {string} name of the connection's method
 */
function listener (name) {
  return function (err) {
    this[kConnection]?.[name](err)
  }
}

module.exports = {
  isFresh, takeContext, watch, watchPauses, unwatch, isTouched, isRead, isShared, giveUp, pushEnd, endSoon, setMessage
}
