'use strict'

const { http2Stream } = require('./objects/message')
const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = require('../shared/timers')

/** How many bytes of a rest are dropped whatever time they take: as many as `readBody()` reads by default. */
const MOST = 1024 * 1024

/** How long a reader may take none of the bytes that have arrived, and how often that is checked, in ms. */
const PATIENCE = 2000
const PERIOD = 100

/** How long a client may go on to send a rest beyond MOST, in ms: many read the response after their last byte. */
const LINGER = 30_000

/**
 * The rest of a request's body, once the response was flushed. The connection's next request comes after it:
 *
 *    a pipe into a stream that lives    it is read, however slowly
 *    a listener that takes bytes        it is read
 *    a listener that takes none         the connection is closed after PATIENCE
 *    none of these                      it is dropped; beyond MOST bytes it has LINGER to end
 *
 * Who reads is looked up in node's request each time, because any code may begin and stop at any time.
 */
class Rest {
  constructor (req, socket) {
    this.req = req
    this.socket = socket // req.socket is null after destroy()
    this.mostRead = 0    // of the socket's bytesRead, once the rest is dropped
    this.taken = -1      // bytes of the socket that have left the request, for its reader
    this.looks = 0       // how many in a row found bytes of which none was taken
    this.timer = setInterval(() => this.look(), PERIOD).unref()
    this.look()
  }

  look () {
    const { req, socket } = this
    const { bytesRead } = socket
    if (req.complete || socket.destroyed) return clearInterval(this.timer)
    if (!isAttached(req)) return this.drop()
    const taken = bytesRead - req.readableLength
    const isStuck = taken === this.taken && req.readableLength > 0 && !req._readableState.pipes.some(isAlive)
    this.taken = taken
    this.looks = isStuck ? this.looks + 1 : 0
    if (this.looks * PERIOD >= PATIENCE) close(req, socket)
  }

  drop () {
    const { req, socket } = this
    clearInterval(this.timer)
    if (http2Stream(req) !== undefined) return close(req)
    this.mostRead = socket.bytesRead + MOST
    req._dump()
    socket.resume() // a request that was destroyed does not
    this.limit()
  }

  /** Called after each iteration of the event loop, which reads 2 MB at most. */
  limit () {
    const { req, socket } = this
    if (req.complete || socket.destroyed) return
    if (socket.bytesRead > this.mostRead) limitTime(socket, () => req.complete)
    else setImmediate(() => this.limit()).unref()
  }
}

function isAttached (req) {
  return !req.destroyed && (req.listenerCount('data') > 0 || req.listenerCount('readable') > 0)
}

function isAlive ({ destroyed, writable }) {
  return !destroyed && writable !== false
}

/** RFC 9113, 8.1: after a whole response the server may request the client, without an error, to stop sending. */
function close (req, socket) {
  const stream = http2Stream(req)
  if (stream === undefined) return socket.destroy()
  stream.close()
  if (!isAttached(req)) stream.removeAllListeners('data').resume() // as node's _dump(): what has arrived would be kept
}

/**
 * The response was flushed: see to what is missing of its request's body.
 *
 * @param {http.IncomingMessage|http2.Http2ServerRequest} req
 * @param {net.Socket} socket
 */
function follow (req, socket) {
  if (!req.complete && !socket.destroyed) new Rest(req, socket) // eslint-disable-line no-new
}

/**
 * A rest is longer than MOST. The response has promised to keep the connection: clients send their next request behind
 * the rest, and most report an error if it is closed then.
 *
 * @param {net.Socket} socket
 * @param {() => boolean} hasEnded
 */
function limitTime (socket, hasEnded) {
  setTimeout(() => hasEnded() || socket.destroy(), LINGER).unref()
}

/** Sends the FIN, and reads on: to close a socket at which bytes arrive is a RST, and clients lose the response. */
function linger (socket) {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.once('close', () => clearTimeout(timer))
}

module.exports = { MOST, follow, limitTime, linger }
