'use strict'

const { Gate, BODY, FULL, MANY, HANDOVER, CLOSE, END } = require('./input/gate')
const { Reader } = require('./input/reader')
const { Responses } = require('./output/responses')
const message = require('./node/message')
const response = require('./node/response')
const sockets = require('./node/socket')
const { call, emit } = require('./call')
const { refuse } = require('./errors')
const { Deadlines } = require('./timeouts')
const turn = require('./turn')
const { linger } = require('../engines/rest')
const { nextTick, setImmediate } = require('../shared/timers')

const MOST_REQUESTS = 256 // pending; with more of them reading stops
const FEW_REQUESTS = 64   // with fewer of them it continues

/**
 * One socket: decides to read, to stop, to hand over to node, and to close.
 *
 *    socket ──▶ connection ──▶ reader ──▶ front ──▶ outgoing ──▶ responses ──▶ socket
 *
 * Its parts and the socket notify it by methods named on….
 */
class Connection {
  /** @param {import('./call').Scope} scope of its requests */
  constructor (front, socket, scope) {
    this.front = front
    this.scope = scope
    this.server = front.server
    this.socket = socket
    this.reader = new Reader(this)
    this.responses = new Responses(this, socket)
    this.gate = new Gate(this)
    this.handling = null      // the request whose handler is being called
    this.handshake = undefined // what the host has made of one
    this.deadlines = new Deadlines(this)
    this.hasFailed = false
    this.isUnwanted = false   // the server was closed when the last response had ended, and was not flushed
    sockets.watch(socket, this)
  }

  // ---- reading

  /** @return {boolean} whether to go on reading */
  onRead (chunk) {
    const { gate } = this
    this.deadlines.touch()
    if (gate.beginRead()) this.handleRead(chunk)
    else gate.hold(chunk)
    if (gate.isOpen) return true
    if (gate.hasNext) this.readOn()
    return gate.isReading
  }

  /**
   * Reads never run inside one another: a handler may end a response that reading waits for, and TLS passes on several
   * records although it should stop. What arrives meanwhile is held.
   */
  handleRead (chunk) {
    try {
      if (sockets.isTouched(this.socket)) this.share(chunk)
      else this.reader.feed(chunk)
    } finally {
      this.gate.done()
    }
  }

  /**
   * Other code uses the socket. If it has only paused it, hold the chunk. If it reads it, node gets the socket when no
   * request and no response is pending, unless other code has taken the socket before, for a tunnel.
   */
  share (chunk) {
    const { gate, reader, responses, socket } = this
    if (!sockets.isRead(socket)) {
      sockets.watchPauses(socket)
      gate.stop(BODY)
      gate.holdFirst(chunk)
    } else if (responses.isFlushed && reader.receiving === null && !reader.sawLast) {
      gate.holdForNode(reader.giveBack(chunk))
      this.handOver()
    } else if (sockets.isShared(socket)) {
      reader.feed(chunk)
    } else {
      sockets.giveUp(socket, chunk)
    }
  }

  /** Other code puts bytes back into the socket: they come before all others that have not been read. */
  onPutBack (chunk) {
    if (this.gate.isForNode) { // node would have read what is held for it
      this.onRead(chunk)
    } else {
      this.gate.holdFirst(chunk)
      nextTick(() => this.readOn())
    }
  }

  /** Continue to read: the gate is open again. */
  readOn () {
    const { gate, socket } = this
    if (!this.isOurs) return
    if (gate.hasNext) this.deadlines.touch() // a message may begin in them
    // Each in a scope of its own, because handlers can change the one that they run in.
    for (let chunk; (chunk = gate.shift()) !== null;) this.scope.invoke(this.handleRead, this, chunk)
    // Who waits for the end of a body may respond in its microtasks.
    if (gate.releaseEnd()) setImmediate(() => this.onReadEnd())
    if (gate.isReading && !socket.destroyed && this.isOurs) socket._read(0)
  }

  /** The client ended its side: that is handled after the bytes that are held, here or by node. */
  onReadEnd () {
    const { gate, socket } = this
    if (!socket.destroyed && !(this.isOurs && gate.holdEnd())) sockets.pushEnd(socket)
  }

  /** Nobody reads the body, and it holds as many bytes as it may. */
  onBodyFull (body) {
    if (body.stream === null) this.gate.stop(BODY)
    else if (!body.stream._dumped) this.socket.pause() // onPause() stops reading
  }

  /** The body is read, or skipped. */
  onBodyRead () {
    this.gate.go(BODY)
  }

  /** Node's stream holds the body; from now on it pauses and resumes the socket. */
  onBodyStreamed (isBelowMark) {
    if (isBelowMark) this.gate.go(BODY)
    else this.socket.pause()
  }

  onPause () {
    this.gate.stop(BODY)
  }

  // ---- requests

  /** The requests of one read. */
  onRequests (first, more) {
    const { scope } = this
    if (more === null) return scope.isNeeded ? scope.handle(this, first) : this.handle(first)
    this.responses.startBurst()
    scope.handle(this, first)
    for (const incoming of more) scope.handle(this, incoming)
  }

  handle (incoming) {
    const { socket, responses } = this
    const { outgoing } = incoming
    if (responses.isFull) this.gate.stop(FULL) // as node does: this request is the last one for now
    responses.add(outgoing)
    if (responses.length > MOST_REQUESTS) this.gate.stop(MANY)
    this.deadlines.wake()

    this.handling = incoming
    call(this.front.dispatch, incoming, outgoing)
    this.handling = null
    if (incoming.req !== null && !incoming.isCollected) call(message.fill, incoming)
    // Node's parser goes on reading at the end of each message, even where the handler has paused the socket.
    if (socket.readableFlowing === false && incoming.hasArrived && !sockets.isRead(socket)) socket.resume()
  }

  /** The last byte of a body has come. What follows it is read after its 'end', for which listeners may still come. */
  onBodyArrived (incoming, rest) {
    turn.atEnd(this, this.onBodyEnd, incoming)
    this.gate.stop(END)
    if (rest !== null) this.gate.holdFirst(rest)
  }

  onBodyEnd (incoming) {
    if (incoming.req !== null) call(message.endBody, incoming)
    this.gate.go(END)
  }

  // ---- responses

  /** Neither closed nor node's. */
  get isOurs () { return this.front.connections.has(this) }

  /** It is the first one now. */
  onFirst (outgoing) {
    if (outgoing.res !== null) response.assign(outgoing)
    else sockets.setMessage(this.socket, outgoing)
    if (this.gate.stops & MANY && this.responses.length < FEW_REQUESTS) this.gate.go(MANY)
  }

  /** All responses are written, or flushed by now: as on node, the socket has shown the last one until then. */
  onWritten () {
    if (!this.responses.isFlushed) {
      this.deadlines.touch()
    } else {
      sockets.setMessage(this.socket, null)
      if (this.gate.isForNode) this.handOver()
      else if (this.isUnwanted && !this.server.listening) this.socket.destroy()
      else this.deadlines.rest()
    }
    if (this.gate.stops & MANY) this.gate.go(MANY)
  }

  /** Fewer bytes are queued. A FIN loses responses: it is not read before the client has read the earlier ones. */
  onUnqueued () {
    const { isBlocked, queuedBytes } = this.responses
    if (!isBlocked && queuedBytes <= this.socket.writableHighWaterMark) this.gate.go(FULL)
  }

  /** The last response of this connection was written. */
  onLastWritten () {
    if (this.socket.writableEnded) return
    this.gate.stop(CLOSE)
    this.responses.writeBatch()
    if (this.responses.isFlushed) sockets.setMessage(this.socket, null)
    // Bytes that are not flushed are lost with the socket's 'close'.
    if (this.reader.receiving === null) sockets.endSoon(this.socket)
    else linger(this.socket)
    this.readOn()
  }

  // ---- handing over to node

  /**
   * Node gets these bytes, what follows them and the socket when every response is flushed. Until then no timeout
   * counts for them, and they are no error.
   */
  onUnsupported (bytes) {
    this.deadlines.endMessage()
    this.gate.holdForNode(bytes)
    if (this.responses.isFlushed) this.handOver()
  }

  handOver () {
    const { gate, socket } = this
    if (!this.isOurs || gate.isClosing) return // after the last response nothing is dispatched
    if (socket.destroyed || socket.errored) return // its 'close' follows, which loses what was not flushed
    const reads = gate.takeHeld()
    this.deadlines.wake()
    this.front.forget(this)
    const removed = sockets.unwatch(socket)
    // The flush that this waited for may be in the context of a request, which node's parser would keep.
    this.scope.invoke(this.front.handOver, this.front, socket, reads, removed)
  }

  // ---- handshakes of WebSockets

  /** @return {boolean} whether the host takes it. What follows it is held. */
  onHandshake (incoming) {
    this.handshake = this.responses.isFlushed ? this.front.takesHandshake(incoming) : undefined
    if (this.handshake !== undefined) this.gate.stop(HANDOVER)
    return this.handshake !== undefined
  }

  /**
   * The response is a 101: other code sends it, and has the socket from now on.
   *
   * @return {Buffer[]} what was read after the handshake
   */
  switchProtocols (outgoing) {
    const { gate, front, socket } = this
    outgoing.beginSwitch()
    front.forget(this)
    sockets.unwatch(socket)
    sockets.setMessage(socket, null)
    front.release(socket)
    this.reader = this.handshake = null // ctx keeps this connection, as long as the handler runs
    return gate.takeRest()
  }

  // ---- the end of the connection

  /** The server closes. This connection is idle once the responses that have ended are flushed. */
  closeFlushed () {
    this.isUnwanted = this.responses.first === null && !this.deadlines.hasMessage
  }

  /** Report an error of this connection, once, as node does. */
  fail (err) {
    if (!this.hasFailed) this.onProtocolError(err)
  }

  /** Report one each time: while a listener of 'clientError' keeps the connection, node reports later errors, too. */
  onProtocolError (err) {
    this.hasFailed = true
    this.responses.writeBatch() // before the bytes of an error response
    refuse(this.socket, err)
  }

  /** 'error' of the socket. */
  onError (err) {
    const { current } = this.responses
    this.fail(err)
    if (current !== null) this.front.host.failed(current.owner, err)
  }

  /** 'end' of the socket. End our side at once, as node does: open responses are lost, what is held is dropped. */
  onEnd () {
    const err = this.gate.isClosing ? null : this.reader.readEnd() // a message may end in what was dropped
    if (err !== null) return this.fail(err)
    this.responses.advance(true)
    this.socket.end() // writes the batch first
  }

  onClose () {
    this.front.forget(this)
    this.responses.loseAll(this.socket.errored || null)
    this.reader.cutOff()
    this.gate.dropHeld()
  }

  onDrain () {
    const { responses } = this
    responses.advance()
    if (responses.first !== null) responses.first.onDrain()
    response.onDrain(this.socket)
  }

  /**
   * Destroys a socket that timed out if no listener was called. As on node, there may be listeners of the request that
   * is arriving and of the response that is sent.
   */
  onTimeout () {
    const { reader, responses, server, socket } = this
    const notify = one => Boolean(one) && emit(one, 'timeout', socket)
    const isRequests = notify(reader.receiving?.req)
    const isResponses = notify(responses.current?.res)
    if (!notify(server) && !isRequests && !isResponses) socket.destroy()
  }
}

module.exports = { Connection }
