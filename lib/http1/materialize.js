'use strict'

const http = require('node:http')
const { setImmediate } = require('node:timers') // jsdom has none
const { rawHeaders } = require('./head')
const { REMOVED_LENGTH, REMOVED_ENCODING, REMOVED_CONNECTION, REMOVED_DATE } = require('./outgoing')

/**
 * From the lean objects to node's own: real ones from the public constructors, in the state that node's
 * would be in at this moment. From then on they are the truth and the lean ones forward to them.
 *
 * @param {Connection} connection
 * @param {Incoming} incoming
 */
function materialize (connection, incoming) {
  const { outgoing } = incoming
  const req = makeRequest(connection, incoming)
  const res = makeResponse(connection, outgoing, req)

  incoming.req = req
  outgoing.res = res
  res[kOutgoing] = outgoing

  if (connection.dispatching !== incoming) fill(incoming)
  if (outgoing.ended) endLate(res) // before the status: it may have been set to anything since
  res.statusCode = outgoing.status
  if (outgoing.message !== undefined) res.statusMessage = outgoing.message
  else if (outgoing.ended) res.statusMessage = http.STATUS_CODES[outgoing.status] || 'unknown'
  if (outgoing.ended) {
    if (outgoing.past || (outgoing.gone && (outgoing.turn || TELLS_QUEUED))) markClosed(res)
    else if (outgoing.sent) process.nextTick(finishLate, res)
    return
  }

  res.on('finish', onFinish)
  if (connection.first === outgoing) {
    assign(connection, res)
  } else if (outgoing.gone) {
    if (outgoing.turn) assign(connection, res)
    if (outgoing.turn || TELLS_QUEUED) markClosed(res)
  }
}

const kOutgoing = Symbol('kone.outgoing')

function makeRequest (connection, incoming) {
  const req = new http.IncomingMessage(connection.socket)
  req.httpVersionMajor = 1
  req.httpVersionMinor = 1
  req.httpVersion = '1.1'
  req.method = incoming._method
  req.url = incoming._url
  req.upgrade = false
  req.joinDuplicateHeaders = connection.server.joinDuplicateHeaders || null

  // node's parser calls this as well: it keeps the count that the getters of headers rely on
  const raw = rawOf(incoming.head)
  req._addHeaderLines(raw, raw.length)
  if (incoming._headers !== null) req.headers = incoming._headers
  return req
}

/** A list of its own for every request: it is the app's to change. */
function rawOf (head) {
  if (!head.repeats) return rawHeaders(head.block)
  head.raw ??= rawHeaders(head.block)
  return head.raw.slice()
}

function makeResponse (connection, outgoing, req) {
  const { server, socket } = connection
  const res = new http.ServerResponse(req, {
    highWaterMark: socket.writableHighWaterMark,
    rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites
  })
  res._hasBody = !outgoing.incoming.byHead
  res._keepAliveTimeout = server.keepAliveTimeout
  res._maxRequestsPerSocket = server.maxRequestsPerSocket
  res._onPendingData = bytes => connection.buffered(bytes)
  res.shouldKeepAlive = !connection.closesAfter(outgoing)

  const { removed, fields } = outgoing
  if (removed & REMOVED_LENGTH) res.removeHeader('content-length')
  if (removed & REMOVED_ENCODING) res.removeHeader('transfer-encoding')
  if (removed & REMOVED_CONNECTION) res.removeHeader('connection')
  if (removed & REMOVED_DATE) res.removeHeader('date')
  for (let i = 0; i < fields.length; i += 2) res.setHeader(fields[i].text, fields[i + 1])
  return res
}

/** Give the socket to the answer whose turn it is. */
function assign (connection, res) {
  connection.flush()
  connection.socket._httpMessage = null
  res.assignSocket(connection.socket)
}

/** The body that is there goes into node's stream, and what follows goes there at once. */
function fill (incoming) {
  const { req, body, connection } = incoming

  if (incoming.spent) return end(req)
  if (incoming.aborted) {
    req.complete = body === null || body.missing === 0
    cutOff(req)
    return
  }
  if (body === null) {
    if (incoming.outgoing.past) return end(req)
    req.complete = true
    req.push(null)
    return
  }
  if (body.taken || body.dropped || incoming.outgoing.past) {
    if (body.missing === 0) end(req)
    else req._dumped = req._consuming = true
    return
  }

  const chunks = body.whole === null ? body.chunks || [] : [body.whole]
  body.stream = req
  body.whole = body.chunks = null
  connection.streams()
  let room = true
  for (const chunk of chunks) room = req.push(chunk)
  if (body.missing === 0) {
    if (incoming.recent) setImmediate(complete, incoming)
    else complete(incoming)
  } else if (!room) {
    connection.socket.pause()
  } else {
    connection.go()
  }
}

/** The last byte has come. */
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

/** An answer that is out already: node's own code ends it once more, into nothing. */
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

/** The answer is out. As node's own listener does: drop an unread body, let go of the socket. */
function onFinish () {
  const outgoing = this[kOutgoing]
  const { connection } = outgoing
  dump(this.req)
  this.detachSocket(connection.socket)
  process.nextTick(emitClose, this)
  connection.finished(outgoing, this._last)
}

function dump (req) {
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
}

/** The same for an answer that was on its way when its object was made. */
function finishLate (res) {
  dump(res.req)
  emitClose(res)
}

function emitClose (res) {
  if (res._closed) return
  res.destroyed = true
  res._closed = true
  res.emit('close')
}

/** The client is gone: node tells the request, and since 24 an answer that never had its turn as well. */
function abort (incoming) {
  const { req, outgoing } = incoming
  req.destroy(reset())
  if (TELLS_QUEUED && outgoing.res.socket === null) outgoing.res.destroy(reset())
}

const TELLS_QUEUED = Number(process.versions.node.split('.')[0]) >= 24

function reset () {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

// node's 'drain' listener clears this mark when it tells a response that it may go on
const kNeedDrain = Object.getOwnPropertySymbols(new http.ServerResponse({ method: 'GET' }))
  .find(symbol => symbol.description === 'kNeedDrain')

/** The socket has room again: tell the response that waits for it, as node does. */
function drain (socket) {
  const res = socket._httpMessage
  if (!(res instanceof http.ServerResponse) || !res.writableNeedDrain || res.writableLength > 0) return
  if (kNeedDrain !== undefined) res[kNeedDrain] = false
  res.emit('drain')
}

module.exports = { materialize, assign, fill, complete, abort, drain, emitClose }
