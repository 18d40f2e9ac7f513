'use strict'

const http = require('http')
const { Readable } = require('stream')
const { error } = require('../errors')
const { End } = require('../memory/pipe')
const { elsewhere } = require('../../shared/runtime')
const { BODILESS, webResponse } = require('./web-response')
const { NullSocket, closeOnDestroy, markRead } = require('../objects/ended')
const { nextTick } = require('../../shared/timers')

const kIncoming = Symbol('kone.incoming')
const kReceived = Symbol('kone.received') // bytes

/**
 * Create node's own `req` and `res`. `res` writes to a connection in memory, which node's
 * own client reads, so that the Response is the one that a client would have received.
 *
 * @param {import('./outgoing').Outgoing} outgoing
 * @throws {Error} on another runtime
 * @api private
 */
module.exports = function materialize (outgoing) {
  if (elsewhere !== '') {
    throw error('KONE_ERR_NODE_ONLY', 500,
      `ctx.req and ctx.res exist on Node only, not in app.fetch() on ${elsewhere}: use ctx.request and ctx.response`)
  }
  const { incoming, connection: socket } = outgoing
  const req = makeRequest(incoming, socket)
  const res = makeResponse(outgoing, req, socket)
  req.method = incoming.method // not before: whether `res` has a body depends on the client's method
  const { hasBegun, hasEnded, stream } = outgoing
  incoming.adopt(req)
  outgoing.adopt(res)

  if (outgoing.isLost) req.destroy()
  if (hasEnded && (stream === null || outgoing.isFlushed)) showEnded(res, socket)
  else if (hasBegun) follow(res, stream)
  else connect(outgoing, res, socket)
  if (outgoing.isClosed) close(res) // what is written to it now is ignored, as on node
}

function makeRequest (incoming, socket) {
  const { headers, request, url } = incoming
  const req = new Request(socket)
  req[kIncoming] = incoming
  req[kReceived] = 0
  req.method = request.method
  req.url = url
  req.httpVersion = '1.1'
  req.httpVersionMajor = req.httpVersionMinor = 1
  // Node's parser calls this: it keeps the count that the getters of headers rely on.
  const raw = Object.entries(headers).flatMap(([name, value]) => [].concat(value).flatMap(one => [name, one]))
  req._addHeaderLines(raw, raw.length)
  req.headers = headers

  if (incoming.isComplete || incoming.isCollected || incoming.isDropped) {
    endBody(req)
    if (incoming.isCollected) { // at once: another reader must not take it for an empty body
      markRead(req)
      closeOnDestroy(req, incoming, socket)
    }
    if (incoming.isDropped) req.resume() // a later reader finds the stream used
  }
  return req
}

function endBody (req) {
  req.complete = true
  req.push(null)
}

class Request extends http.IncomingMessage {
  _read (size) {
    super._read(size) // the first one lets the stream read on
    this[kIncoming].read(this[kReceived]).then(chunk => {
      if (chunk === null) return endBody(this)
      this[kReceived] += chunk.byteLength
      this.push(chunk)
    }, err => this.destroy(err))
  }
}

Object.defineProperty(Request.prototype, 'constructor', { value: http.IncomingMessage })

function makeResponse (outgoing, req, socket) {
  const { fields, status, message } = outgoing
  const res = new http.ServerResponse(req)
  res.sendDate = false // the server that sends the Response adds it
  for (let i = 0; i < fields.length; i += 2) res.setHeader(fields[i].text, fields[i + 1])
  res.statusCode = status
  if (message !== undefined) res.statusMessage = message
  res.assignSocket(socket)
  socket.on('drain', () => drained(res))
  return res
}

const kNeedDrain = Object.getOwnPropertySymbols(new http.ServerResponse(/** @type {any} */ ({ method: 'GET' })))
  .find(symbol => symbol.description === 'kNeedDrain')

// As node's server does: 'drain' of the connection is that of the response under way.
function drained (res) {
  if (res.finished || !res.writableNeedDrain) return
  if (kNeedDrain !== undefined) res[kNeedDrain] = false
  res.emit('drain')
}

function showEnded (res, socket) {
  res.detachSocket(socket)
  const nowhere = new NullSocket()
  res.assignSocket(nowhere)
  res.end()
  res.detachSocket(nowhere)
}

/** The Response was sent already: code can read `res`, which sends nothing. */
function follow (res, stream) {
  res.flushHeaders()
  stream.once('finish', () => res.end())
  stream.once('close', () => res.destroy())
}

function connect (outgoing, res, socket) {
  const near = new End()
  socket.connect(near)
  near.once('close', () => { if (!near.writableFinished) socket.destroy() }) // the reader of the Response has cancelled
  socket.resume() // what the client sends is in `req` already

  const client = http.request({ method: outgoing.incoming.request.method, createConnection: () => near })
  client.on('error', err => outgoing.lose(err))
  client.on('response', response => {
    try {
      outgoing.deliver(received(response))
    } catch (err) {
      outgoing.lose(err)
    }
  })
  client.end()

  // as node's server does after a response
  res.once('finish', () => {
    res.detachSocket(socket)
    socket.end()
    outgoing.onFlushed()
    nextTick(close, res)
  })
}

function close (res) {
  if (res._closed) return
  res.destroyed = true
  res._closed = true
  res.emit('close')
}

function received (response) {
  const { headersDistinct, statusCode, statusMessage } = response
  const isBodiless = BODILESS.has(statusCode) || response.req.method === 'HEAD'
  if (isBodiless) response.resume()
  const fields = Object.entries(headersDistinct).flatMap(([name, values]) => [{ text: name, key: name }, values])
  return webResponse(statusCode, statusMessage, fields, isBodiless ? null : Readable.toWeb(response))
}
