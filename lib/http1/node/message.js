'use strict'

const http = require('node:http')
const process = require('node:process')
const { setImmediate } = require('node:timers') // jsdom has none
const { callAll, emit } = require('../call')
const { watchPauses } = require('./handover')
const response = require('./response')

const kDetachAbortSignal = Object.getOwnPropertySymbols(http.IncomingMessage.prototype)
  .find(symbol => symbol.description === 'kDetachAbortSignal')

/**
 * Creates node's objects from those of the fast path, each when it is first read, with node's public
 * constructors and in the state that node's would have now. From then on node's objects hold the values, and those of
 * the fast path forward to them.
 *
 * @param {Connection} connection
 * @param {Incoming} incoming
 */
function makeRequest (connection, incoming) {
  const { outgoing } = incoming
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

  incoming.adopt(req)
  if (connection.handling !== incoming) fill(incoming)
  if (!outgoing.isNotified || outgoing.isLost) return
  if (outgoing.nodeHasClosed) release(req)
  else process.nextTick(release, req)
}

/**
 * @param {Connection} connection
 * @param {Outgoing} outgoing
 */
function makeResponse (connection, outgoing) {
  const res = response.make(connection, outgoing)
  outgoing.adopt(res)
  if (outgoing.ended) {
    response.showEnded(outgoing)
    if (outgoing.isNotified && !outgoing.isLost && !outgoing.nodeHasClosed) settled(outgoing, null, null)
    return
  }
  res.statusCode = outgoing.status
  if (outgoing.message !== undefined) res.statusMessage = outgoing.message
  if (connection.responses.first === outgoing) response.assign(outgoing)
  else if (outgoing.isLost) response.showLost(outgoing)
}

/** Moves the bytes that have arrived into node's stream; later bytes go there directly. */
function fill (incoming) {
  const { req, body, connection, outgoing } = incoming

  if (incoming.isSpent) return end(req)
  if (incoming.aborted) {
    req.complete = body === null || body.isComplete
    cutOff(req)
    return
  }
  if (body === null) {
    if (outgoing.nodeHasClosed) return end(req)
    req.complete = true
    req.push(null)
    return
  }
  if (body.isCollected || body.isDropped || outgoing.nodeHasClosed) {
    if (body.isComplete) return end(req)
    req._dumped = req._consuming = true
    req.resume() // a later reader finds the stream used
    return
  }

  watchPauses(connection.socket)
  const isBelowMark = body.streamTo(req)
  if (!body.isComplete) connection.bodyIsStreamed(isBelowMark)
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

/** Brings `req` into the state after 'end' and 'close'. */
function end (req) {
  const state = req._readableState
  req.complete = req._consuming = true
  state.ended = state.endEmitted = state.destroyed = state.closed = state.closeEmitted = true
}

/** Brings `req` into the state after 'aborted', 'error' and 'close'. */
function cutOff (req) {
  const state = req._readableState
  req.aborted = true
  state.errored = reset()
  state.destroyed = state.closed = state.closeEmitted = state.errorEmitted = true
}

/** The client has closed the connection. */
function abort (incoming) {
  const { req, outgoing } = incoming
  if (req !== null) req.destroy(reset())
  if (outgoing.res !== null) response.abort(outgoing, reset())
}

/**
 * The response was flushed, or lost.
 *
 * @param {Outgoing} outgoing
 * @param {Function[]|null} callbacks of node's `write()` and `end()`, one of which emits 'finish'
 * @param {Function[]|null} listeners of onFinished()
 */
function settled (outgoing, callbacks, listeners) {
  const { failure } = outgoing
  if (failure === null) {
    process.nextTick(finish, outgoing, callbacks, listeners)
  } else {
    if (callbacks !== null) process.nextTick(callAll, callbacks, failure)
    if (listeners !== null) for (const fn of listeners) process.nextTick(fn, failure)
  }
}

/** Does the work of node's own listener for 'finish': drops an unread body, releases the socket. */
function finish (outgoing, callbacks, listeners) {
  const { req } = outgoing.incoming
  if (outgoing.res !== null) response.publishFinish(outgoing)
  if (req !== null) release(req)
  if (outgoing.res !== null) response.release(outgoing.res)
  if (callbacks !== null) callAll(callbacks, null)
  // A tick later, when an unread request has ended, because destroying it earlier would destroy the socket.
  if (listeners !== null) for (const fn of listeners) process.nextTick(fn, null)
}

/** As node's own listener for 'finish': the request's signal is not aborted any more, an unread body is dropped. */
function release (req) {
  if (kDetachAbortSignal !== undefined) req[kDetachAbortSignal]()
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
}

function reset () {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

/**
 * The socket timed out.
 *
 * @return {boolean} whether a listener was called
 */
function timeout (outgoing, socket) {
  const { res, incoming: { req } } = outgoing
  const hasListener = req !== null && !req.complete && emit(req, 'timeout', socket)
  return (res !== null && emit(res, 'timeout', socket)) || hasListener
}

module.exports = { makeRequest, makeResponse, fill, complete, abort, timeout, settled }
