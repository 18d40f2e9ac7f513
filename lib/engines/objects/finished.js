'use strict'

const { responseLost } = require('../errors')
const { nextTick, setImmediate } = require('../../shared/timers')
const { http2Stream } = require('./message')

/** An engine's response, as a property of node's, which that engine has made. */
const kOutgoing = Symbol.for('kone.outgoing')
const kDelivery = Symbol('kone.delivery')
const kPending = Symbol('kone.pending')

/**
 * Call `fn` once: with null when the whole response was flushed, or with an error of code `KONE_ERR_RESPONSE_LOST`
 * when it was lost. For node:http and node:http2; other engines have their own `onFinished`.
 *
 *    whenFinished(req, res, err => log(err === null ? 'sent' : err.code))
 *
 * @param {Function} fn `(err|null) => void`
 */
function whenFinished (req, res, fn) {
  if (res[kOutgoing] !== undefined) return res[kOutgoing].onFinished(fn)
  let delivery = res[kDelivery]
  if (delivery === undefined) {
    const stream = http2Stream(res)
    delivery = res[kDelivery] = stream ? new StreamDelivery(stream) : new Delivery(req.socket, res)
  }
  delivery.onSettled(fn)
}

/** Whether one response was flushed or lost: pending until the first call of `settle`. */
class Fate {
  constructor () {
    this.isSettled = false
    this.err = null
    this.listeners = []
  }

  onSettled (fn) {
    if (this.isSettled) setImmediate(fn, this.err)
    else this.listeners.push(fn)
  }

  settle (flushed, cause) {
    if (this.isSettled) return
    this.isSettled = true
    this.err = flushed ? null : responseLost(cause)
    // Each in a tick of its own, as on the front: one that throws must not keep the others from being called.
    for (const fn of this.listeners.splice(0)) nextTick(fn, this.err)
  }
}

/**
 * A response over HTTP/1. Node emits 'finish' also for a response whose bytes were dropped because the socket was
 * destroyed. For a queued response after that one, node up to 22 emits nothing. So a 'finish' counts unless the socket
 * was destroyed before the last byte was flushed, and the socket's 'close' ends every response that is pending.
 *
 *     end() ─▶ 'prefinish' ─▶ 'finish' ─▶ flushed         the socket's 'close' at any point ─▶ lost
 *              (did the kernel take all bytes at once?)
 */
class Delivery extends Fate {
  constructor (socket, res) {
    super()
    this.socket = socket
    this.res = res
    this.isFlushed = false
    this.pending = null
    this.follow()
  }

  follow () {
    const { socket, res } = this
    if (typeof res.on !== 'function') return this.settle(true) // a fake, which emits nothing
    if (res.writableFinished && res.socket === null) return this.settle(true) // before anybody listened
    if (socket?.closed) return this.settle(false, socket.errored)

    // Not `this[kDelivery]` of a listener: `res` may be an object that inherits from the one that emits.
    res.on('prefinish', () => this.prefinish())
    // Before all others, because a listener that throws keeps those after it from being called.
    const first = res.prependListener ?? res.on // a fake may have no other
    first.call(res, 'finish', () => this.finish())
    if (typeof socket?.once === 'function') (this.pending = pendingOf(socket)).add(this)
    else res.on('close', () => this.close())
  }

  /** `end()` gave all bytes to the socket. Did the kernel take them at once? */
  prefinish () {
    const { socket } = this
    this.isFlushed = isSound(socket) && socket.writableLength === 0
  }

  /**
   * The socket has written all bytes, or was destroyed and has dropped them. Settled in the next tick, because node's
   * own listener for 'finish' has not been called yet.
   */
  finish () {
    this.isFlushed ||= !this.socket || isSound(this.socket)
    nextTick(close, this)
  }

  close () {
    this.settle(this.isFlushed, this.res.errored || this.socket?.errored)
  }

  settle (flushed, cause) {
    this.pending?.delete(this)
    super.settle(flushed, cause)
  }
}

/** A write that failed emits the response's 'finish' before it destroys the socket. */
function isSound (socket) {
  return !!socket && !socket.destroyed && !socket.errored
}

function close (delivery) { delivery.close() }

/** A response over HTTP/2, where the response's own 'finish' means only that the stream is closed. */
class StreamDelivery extends Fate {
  constructor (stream) {
    super()
    this.stream = stream
    if (stream.closed && stream.destroyed) this.close()
    else stream.once('close', () => this.close())
  }

  close () {
    const { stream } = this
    this.settle(wasFlushed(stream), stream.errored || stream.session?.socket?.errored)
  }
}

// Node ends the writable side of a HEAD's stream before the response, and that of a stream which the client cancels.
function wasFlushed (stream) {
  if (!stream.headersSent || stream.aborted) return false
  return stream.headRequest ? !stream.errored : stream.writableFinished
}

/**
 * What ends with a socket: `close()` of each is called when it closes. One listener for all of them, because
 * pipelined requests would add too many.
 *
 *    pendingOf(socket).add({ close: () => log('closed') })
 *
 * @param {net.Socket|stream.Duplex} socket
 * @return {Set<{ close: Function }>}
 */
function pendingOf (socket) {
  if (socket[kPending] === undefined) {
    socket[kPending] = new Set()
    socket.once('close', function () {
      for (const one of this[kPending]) one.close()
    })
  }
  return socket[kPending]
}

module.exports = { pendingOf, whenFinished }
