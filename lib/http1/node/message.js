'use strict'

const http = require('node:http')
const { setMessage, watchPauses } = require('./handover')
const { REMOVED_LENGTH, REMOVED_ENCODING, REMOVED_CONNECTION, REMOVED_DATE } = require('../response/outgoing')

/** Since Node 24 a response that never had its turn is told that the client has left. */
const TELLS_QUEUED = Number(process.versions.node.split('.')[0]) >= 24

const kOutgoing = Symbol('kone.outgoing')
const kTaken = Symbol('kone.taken')

/**
 * Node's ServerResponse, which decides whether the connection closes when its header section is made, and
 * not when the object is made: the server may begin to drain between the two.
 */
class Response extends http.ServerResponse {
  writeHead (...args) {
    const outgoing = this[kOutgoing]
    if (outgoing !== undefined && this._header === null && outgoing.mustClose) this.shouldKeepAlive = false
    return super.writeHead(...args)
  }

  /** All bytes were given to the socket: did the kernel take them at once? */
  _finish () {
    super._finish()
    this[kTaken] = this.socket !== null && isSound(this.socket) && this.socket.writableLength === 0
  }
}

/**
 * From the objects of the fast path to node's own: real ones from the public constructors, in the state that
 * node's would be in at this moment. From then on they hold the values and the others forward to them.
 *
 * @param {Connection} connection
 * @param {Incoming} incoming
 */
function materialize (connection, incoming) {
  const { outgoing } = incoming
  const req = makeRequest(connection, incoming)
  const res = makeResponse(connection, outgoing, req)

  incoming.adopt(req)
  outgoing.adopt(res)
  res[kOutgoing] = outgoing

  if (connection.handling !== incoming) fill(incoming)
  if (outgoing.ended) endLate(res) // before the status: it may have been set to anything since
  res.statusCode = outgoing.status
  if (outgoing.message !== undefined) res.statusMessage = outgoing.message
  else if (outgoing.ended) res.statusMessage = http.STATUS_CODES[outgoing.status] || 'unknown'
  if (outgoing.ended) {
    if (outgoing.isPast || (outgoing.isLost && (outgoing.hadTurn || TELLS_QUEUED))) markClosed(res)
    else if (outgoing.isSent) process.nextTick(finishLate, res)
    return
  }

  res.on('finish', onFinish)
  if (connection.responses.first === outgoing) {
    assign(outgoing)
  } else if (outgoing.isLost) {
    if (outgoing.hadTurn) {
      setMessage(connection.socket, null)
      res.assignSocket(connection.socket)
    }
    if (outgoing.hadTurn || TELLS_QUEUED) markClosed(res)
  }
}

function makeRequest (connection, incoming) {
  const req = new http.IncomingMessage(connection.socket)
  req.httpVersionMajor = 1
  req.httpVersionMinor = 1
  req.httpVersion = '1.1'
  req.method = incoming.ownMethod
  req.url = incoming.ownUrl
  req.upgrade = false
  req.joinDuplicateHeaders = connection.server.joinDuplicateHeaders || null

  // Node's parser calls this as well: it keeps the count that the getters of headers rely on.
  const raw = incoming.section.rawHeaders()
  req._addHeaderLines(raw, raw.length)
  if (incoming.ownHeaders !== null) req.headers = incoming.ownHeaders
  return req
}

function makeResponse (connection, outgoing, req) {
  const { server, socket } = connection
  const res = new Response(req, {
    highWaterMark: socket.writableHighWaterMark,
    rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites
  })
  res._hasBody = !outgoing.incoming.isHead
  res._keepAliveTimeout = server.keepAliveTimeout
  res._maxRequestsPerSocket = server.maxRequestsPerSocket
  res._onPendingData = bytes => connection.responses.nodeQueued(bytes)
  res.shouldKeepAlive = !outgoing.mustClose

  const { removed, fields } = outgoing
  if (removed & REMOVED_LENGTH) res.removeHeader('content-length')
  if (removed & REMOVED_ENCODING) res.removeHeader('transfer-encoding')
  if (removed & REMOVED_CONNECTION) res.removeHeader('connection')
  if (removed & REMOVED_DATE) res.removeHeader('date')
  for (let i = 0; i < fields.length; i += 2) res.setHeader(fields[i].text, fields[i + 1])
  return res
}

/** Gives the socket to node's response, whose turn it is. */
function assign (outgoing) {
  const { responses, res } = outgoing
  responses.stream(outgoing)
  setMessage(responses.socket, null)
  res.assignSocket(responses.socket)
}

/** The body that is there goes into node's stream, and what follows goes there at once. */
function fill (incoming) {
  const { req, body, connection, outgoing } = incoming

  if (incoming.isSpent) return end(req)
  if (incoming.aborted) {
    req.complete = body === null || body.isComplete
    cutOff(req)
    return
  }
  if (body === null) {
    if (outgoing.isPast) return end(req)
    req.complete = true
    req.push(null)
    return
  }
  if (body.isCollected || body.isDropped || outgoing.isPast) {
    if (body.isComplete) end(req)
    else req._dumped = req._consuming = true
    return
  }

  watchPauses(connection.socket)
  const hasRoom = body.streamTo(req)
  if (!body.isComplete) connection.bodyIsStreamed(hasRoom)
  else if (incoming.justArrived) setImmediate(complete, incoming)
  else complete(incoming)
}

/** The last byte has arrived. */
function complete (incoming) {
  const { req } = incoming
  if (req.destroyed) return
  req.complete = true
  req.push(null)
  if (req._dumped) req.resume()
}

/** Read to the end and closed: what node's stream is after its 'close'. */
function end (req) {
  const state = req._readableState
  req.complete = req._consuming = true
  state.ended = state.endEmitted = state.destroyed = state.closed = state.closeEmitted = true
}

/** Aborted and closed, its events long gone by. */
function cutOff (req) {
  const state = req._readableState
  req.aborted = true
  state.errored = reset()
  state.destroyed = state.closed = state.closeEmitted = state.errorEmitted = true
}

/** A response that was sent already: node's own code ends it once more, into nothing. */
function endLate (res) {
  const sink = new Sink()
  res.assignSocket(sink)
  res.end()
  res.detachSocket(sink)
}

class Sink {
  constructor () {
    this.writable = true
    this.destroyed = false
    this.writableLength = 0
    this.writableCorked = 0
    this._writableState = { corked: 0 }
    this._httpMessage = null
  }

  on () {}
  removeListener () {}
  cork () {}
  uncork () {}
  write (data, encoding, callback) {
    if (typeof callback === 'function') callback()
    return true
  }
}

function markClosed (res) {
  res.destroyed = true
  res._closed = true
}

/**
 * Node is done with the response. As node's own listener does: drop an unread body, let go of the socket.
 * Node emits 'finish' also for bytes that were dropped because the socket was destroyed: then the socket's
 * 'close' ends the response.
 */
function onFinish () {
  const outgoing = this[kOutgoing]
  const { responses } = outgoing
  const isFlushed = this[kTaken] || isSound(responses.socket)
  dump(this.req)
  this.detachSocket(responses.socket)
  process.nextTick(emitClose, this)
  if (isFlushed && !outgoing.isLost) responses.streamed(outgoing, this._last)
}

/** A failed write calls back before the socket is destroyed, but after the error is noted. */
function isSound (socket) {
  return !socket.destroyed && socket.errored === null
}

function dump (req) {
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
}

/** The same for a response that was being sent when its object was made. */
function finishLate (res) {
  dump(res.req)
  emitClose(res)
}

/** A response that ended before its turn was sent. */
function sent (res) {
  process.nextTick(emitClose, res)
}

function emitClose (res) {
  if (res._closed) return
  res.destroyed = true
  res._closed = true
  res.emit('close')
}

/** The client has left: node notifies the request, and the response (see TELLS_QUEUED). */
function abort (incoming) {
  const { req, outgoing } = incoming
  req.destroy(reset())
  if (TELLS_QUEUED && outgoing.res.socket === null) outgoing.res.destroy(reset())
}

function reset () {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

/**
 * The socket timed out.
 *
 * @return {boolean} whether somebody listens for it
 */
function timeout (outgoing, socket) {
  const { req } = outgoing.incoming
  const isHeard = !req.complete && req.emit('timeout', socket)
  return outgoing.res.emit('timeout', socket) || isHeard
}

// Node's 'drain' listener clears this mark when it notifies a response that it may go on.
const kNeedDrain = Object.getOwnPropertySymbols(new http.ServerResponse({ method: 'GET' }))
  .find(symbol => symbol.description === 'kNeedDrain')

/** The socket has room again: notify the response that waits for it, as node does. */
function drain (socket) {
  const res = socket._httpMessage
  if (!(res instanceof http.ServerResponse) || !res.writableNeedDrain || res.writableLength > 0) return
  if (kNeedDrain !== undefined) res[kNeedDrain] = false
  res.emit('drain')
}

module.exports = { materialize, assign, fill, complete, abort, sent, timeout, drain }
