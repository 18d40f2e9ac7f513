'use strict'

const http = require('node:http')
const process = require('node:process')
const { setImmediate } = require('node:timers') // jsdom has none
const { watchPauses } = require('./handover')
const response = require('./response')

/**
 * From the objects of the fast path to node's own, each when it is first read: real ones from the public
 * constructors, in the state that node's would be in at this moment. From then on they hold the values and
 * the others forward to them.
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
  if (outgoing.isNotified && !outgoing.isLost && !outgoing.isPast) process.nextTick(dump, req)
}

/**
 * @param {Connection} connection
 * @param {Outgoing} outgoing
 */
function makeResponse (connection, outgoing) {
  const res = response.make(connection, outgoing)
  outgoing.adopt(res)
  if (outgoing.ended) {
    response.makeEnded(outgoing)
    if (outgoing.isNotified && !outgoing.isLost && !outgoing.isPast) settled(outgoing, null, null)
    return
  }
  res.statusCode = outgoing.status
  if (outgoing.message !== undefined) res.statusMessage = outgoing.message
  if (connection.responses.first === outgoing) response.assign(outgoing)
  else if (outgoing.isLost) response.makeLost(outgoing)
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
    if (body.isComplete) return end(req)
    req._dumped = req._consuming = true
    req.resume() // who reads it later sees that it is used
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

/** The client has left. */
function abort (incoming) {
  const { req, outgoing } = incoming
  if (req !== null) req.destroy(reset())
  if (outgoing.res !== null) response.abort(outgoing, reset())
}

/**
 * The response was flushed, or lost.
 *
 * @param {Outgoing} outgoing
 * @param {Function[]|null} callbacks that node gave with its pieces, one of which emits 'finish'
 * @param {Function[]|null} listeners of onFinished()
 */
function settled (outgoing, callbacks, listeners) {
  const { failure } = outgoing
  if (failure === null) {
    process.nextTick(finish, outgoing, callbacks, listeners)
  } else {
    if (callbacks !== null) process.nextTick(response.call, callbacks, failure)
    if (listeners !== null) for (const fn of listeners) process.nextTick(fn, failure)
  }
}

/** As node's own listener for 'finish': drop an unread body, let go of the socket. */
function finish (outgoing, callbacks, listeners) {
  const { req } = outgoing.incoming
  if (outgoing.res !== null) response.finished(outgoing)
  if (req !== null) dump(req)
  if (outgoing.res !== null) response.close(outgoing.res)
  if (callbacks !== null) response.call(callbacks, null)
  // A tick later, when an unread request is at its end: destroyed before, it would take the socket with it.
  if (listeners !== null) for (const fn of listeners) process.nextTick(fn, null)
}

function dump (req) {
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
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
  const { res, incoming: { req } } = outgoing
  const hasListener = req !== null && !req.complete && req.emit('timeout', socket)
  return (res !== null && res.emit('timeout', socket)) || hasListener
}

module.exports = { makeRequest, makeResponse, fill, complete, abort, timeout, settled }
