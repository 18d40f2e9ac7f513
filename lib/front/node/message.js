'use strict'

const assert = require('assert')
const http = require('http')
const { callAll } = require('../call')
const { reset } = require('../../engines/errors')
const { follow } = require('../../engines/rest')
const { nextTick } = require('../../shared/timers')
const { closeOnDestroy, markRead } = require('../../engines/objects/ended')
const response = require('./response')
const server = require('./server')
const { watchPauses } = require('./socket')

const kDetachAbortSignal = Object.getOwnPropertySymbols(http.IncomingMessage.prototype)
  .find(symbol => symbol.description === 'kDetachAbortSignal')

/**
 * Creates node's objects from those of the front, each when it is first read, with node's public constructors, in
 * the state that node's would have now. From then on node's objects hold the values.
 */
function makeRequest (incoming) {
  const { connection, outgoing } = incoming
  const req = new http.IncomingMessage(connection.socket)
  req.httpVersionMajor = 1
  req.httpVersionMinor = incoming.localMinor
  req.httpVersion = `1.${incoming.localMinor}`
  req.method = incoming.localMethod
  req.url = incoming.localUrl
  req.upgrade = false
  req.joinDuplicateHeaders = connection.server.joinDuplicateHeaders || null

  // Node's parser calls this as well: it keeps the count that the getters of headers rely on.
  const raw = incoming.section.rawHeaders()
  req._addHeaderLines(raw, raw.length)
  if (incoming.localHeaders !== null) req.headers = incoming.localHeaders

  incoming.adopt(req)
  if (connection.handling !== incoming || incoming.isCollected) fill(incoming)
  if (incoming.isSpent && !req.destroyed) assert.fail('ctx.req shows a stream whose body was read')
  if (!outgoing.isFlushed) return
  if (outgoing.isPast) releaseRequest(outgoing)
  else nextTick(releaseRequest, outgoing)
}

function makeResponse (outgoing) {
  const res = response.make(outgoing)
  outgoing.adopt(res)
  if (outgoing.hasEnded) {
    response.showEnded(outgoing)
    if (outgoing.isFlushed && !outgoing.isPast) nextTick(closeFlushed, outgoing)
    return
  }
  res.statusCode = outgoing.status
  if (outgoing.message !== undefined) res.statusMessage = outgoing.message
  if (outgoing.hasBegun) response.showBegun(outgoing)
  else if (outgoing.pipeSink !== null) res.strictContentLength = true // the stream's and what other code writes
  if (outgoing.responses.first === outgoing) response.assign(outgoing, true)
  else if (outgoing.isLost) response.showLost(outgoing)
}

/** Moves the bytes that have arrived into node's stream; later bytes go there directly. */
function fill (incoming) {
  const { req, body, connection, hasArrived } = incoming

  if (incoming.isSpent) return markEnded(incoming)
  if (incoming.aborted) {
    req.complete = hasArrived
    return markCutOff(req)
  }
  if (body !== null && body.isCollected) { // at once: another reader must not wait for what kone reads
    closeOnDestroy(req, body, connection.socket)
    return markEnded(incoming)
  }
  if (incoming.isReleased) {
    if (hasArrived) return markEnded(incoming)
    req._dumped = req._consuming = true
    req.resume() // a later reader finds the stream used
    return
  }

  if (body === null) return endBody(incoming)

  watchPauses(connection.socket)
  if (body.isLeft) { // as the reader left node's stream
    req._consuming = true
    req.pause()
  }
  const isBelowMark = body.streamTo(req)
  if (incoming.isComplete) endBody(incoming)
  else if (hasArrived) connection.onBodyArrived(incoming, null)
  else connection.onBodyStreamed(isBelowMark)
}

function endBody (incoming) {
  const { req } = incoming
  complete(incoming)
  if (!req.destroyed) req.push(null)
}

/** Its last byte has arrived. */
function complete ({ req, body }) {
  req.complete = true
  if (body !== null && body.trailers !== null) req._addHeaderLines(body.trailers, body.trailers.length)
}

/** Brings `req` into the state after 'end' and 'close'. */
function markEnded (incoming) {
  const { req, body, hasArrived } = incoming
  if (hasArrived) complete(incoming)
  req._consuming = true
  req._readableState.dataEmitted = body !== null
  markRead(req)
}

/** Brings `req` into the state after 'aborted', 'error' and 'close'. */
function markCutOff (req) {
  const state = req._readableState
  req.aborted = true
  state.errored = reset()
  state.destroyed = state.closed = state.closeEmitted = state.errorEmitted = true
}

/** The client has closed the connection. */
function cutOff (incoming) {
  const { req, outgoing } = incoming
  if (req !== null) req.destroy(reset())
  if (outgoing.res !== null) response.cutOff(outgoing, reset())
}

/** The response was flushed. Of the callbacks of node's `write()` and `end()` one emits 'finish'. */
function notifyFlushed (outgoing, callbacks, listeners) {
  release(outgoing)
  if (callbacks !== null) callAll(callbacks, null)
  // A tick later, when an unread request has ended, because destroying it earlier would destroy the socket.
  if (listeners !== null) for (const fn of listeners) nextTick(fn, null)
}

/**
 * Closes a response that was created after its flush. On node it may have closed ticks ago: a write before this reports
 * its error to the callback alone, without an 'error' event.
 */
function closeFlushed (outgoing) {
  outgoing.res.destroyed = true
  release(outgoing)
}

/** Does the work of node's own listener for 'finish': drops an unread body, releases the socket. */
function release (outgoing) {
  const { res, incoming: { req } } = outgoing
  if (res !== null) server.responseFinished(outgoing)
  if (req !== null) releaseRequest(outgoing)
  if (res !== null) response.releaseSocket(res)
}

/**
 * As node's own listener for 'finish': the request's signal is not aborted any more, an unread body is dropped. A body
 * whose rest has not arrived: see ../../engines/rest.js.
 */
function releaseRequest ({ closes, incoming }) {
  const { body, req } = incoming
  if (kDetachAbortSignal !== undefined) req[kDetachAbortSignal]()
  if (!closes && body !== null && body.isStreamed) follow(req, incoming.localSocket)
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
}

module.exports = { makeRequest, makeResponse, fill, endBody, cutOff, notifyFlushed }
