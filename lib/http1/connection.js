'use strict'

const process = require('node:process')
const { Gate, BODY, FULL, MANY, CLOSE, READ } = require('./input/gate')
const { Reader } = require('./input/reader')
const { Outgoing } = require('./output/outgoing')
const { Responses } = require('./output/responses')
const handover = require('./node/handover')
const message = require('./node/message')
const response = require('./node/response')
const watchers = require('./node/watchers')
const { Probe } = require('./node/probe')
const { call, emit } = require('./call')
const { Deadlines } = require('./deadlines')
const { refuse } = require('./errors')

const MOST_REQUESTS = 256 // pending; with more of them reading stops
const FEW_REQUESTS = 64   // with fewer of them it continues

/**
 * One socket: decides to read, to stop, to hand over to node, and to close.
 *
 *    socket ──▶ connection ──▶ reader ──▶ front ──▶ outgoing ──▶ responses ──▶ socket
 *
 * It owns a Gate, which decides whether to read; a Reader, which passes it requests or unsupported bytes; and
 * Responses, which notify it of the current response, of the end of all responses, and of the last one written.
 */
class Connection {
  /**
   * @param {Front} front
   * @param {net.Socket} socket
   * @param {Scope} scope of its requests
   */
  constructor (front, socket, scope) {
    this.front = front
    this.scope = scope
    this.server = front.server
    this.clock = front.clock
    this.socket = socket
    this.reader = new Reader(this)
    this.responses = new Responses(this, socket)
    this.gate = new Gate(this)
    this.handling = null      // the request whose handler is being called
    this.deadlines = new Deadlines(this)
    this.isClosed = false
    this.hasFailed = false
    handover.watch(socket, this)
  }

  // ---- reading

  /**
   * Read bytes of the socket.
   *
   * @param {Buffer} chunk
   * @return {boolean} whether to go on reading
   */
  read (chunk) {
    const { gate } = this
    this.deadlines.touch()
    if (gate.isOpen) this.take(chunk)
    else gate.hold(chunk)
    if (gate.hasNext) this.readOn()
    return gate.isReading
  }

  /**
   * Handle one read. Reads never run inside one another: a handler may end a response that reading waits for, and
   * TLS passes on several records although it should stop. What arrives meanwhile is held.
   */
  take (chunk) {
    const { gate } = this
    gate.stop(READ)
    try {
      if (handover.isTouched(this.socket)) this.share(chunk)
      else this.reader.read(chunk)
    } finally {
      gate.done()
    }
  }

  /**
   * Other code has paused the socket, or reads it. In the second case node gets the socket; while a request or a
   * response is pending, the listeners are called with what the front reads.
   */
  share (chunk) {
    const { gate, reader, responses, socket } = this
    if (!handover.isRead(socket)) {
      handover.watchPauses(socket)
      gate.stop(BODY)
      gate.holdFirst(chunk)
    } else if (responses.isEmpty && reader.receiving === null && !reader.sawLast) {
      gate.leave(reader.giveBack(chunk))
      this.leave()
    } else {
      if (handover.isShared(socket)) reader.read(chunk)
      handover.show(socket, chunk)
    }
  }

  /** Other code puts bytes back into the socket: they come before all others that have not been read. */
  putBack (chunk) {
    this.gate.holdFirst(chunk)
    process.nextTick(readOn, this)
  }

  /** Continue to read: the gate is open again. */
  readOn () {
    const { gate, socket } = this
    if (this.isClosed) return
    if (gate.hasNext) this.deadlines.touch() // a message may begin in them
    // Each in a scope of its own, because handlers can change the one that they run in.
    for (let chunk; (chunk = gate.next()) !== null;) this.scope.run(take, this, chunk)
    if (gate.isReading && !socket.destroyed && this.isOurs) socket._read(0)
  }

  bodyIsFull (body) {
    if (body.stream === null) this.gate.stop(BODY)
    else if (!body.stream._dumped) this.socket.pause() // onPause() stops reading
  }

  bodyIsRead () {
    this.gate.go(BODY)
  }

  /** Node's stream holds the body; from now on it pauses and resumes the socket. */
  bodyIsStreamed (isBelowMark) {
    if (isBelowMark) this.gate.go(BODY)
    else this.socket.pause()
  }

  onPause () {
    this.gate.stop(BODY)
  }

  // ---- requests

  /** Handle the requests of one read. */
  requests (first, more) {
    const { scope } = this
    if (more === null) return scope.enter(handle, this, first, true)
    this.responses.burst()
    scope.enter(handle, this, first, false)
    for (const incoming of more) scope.enter(handle, this, incoming, false)
  }

  handle (incoming) {
    const { socket, responses } = this
    const outgoing = new Outgoing(responses, incoming)
    incoming.respondWith(outgoing)
    if (responses.isFull) this.gate.stop(FULL) // as node does: this request is the last one for now
    responses.add(outgoing)
    if (responses.length > MOST_REQUESTS) this.gate.stop(MANY)
    this.deadlines.wake()

    this.handling = incoming
    call(dispatch, this.front, incoming, outgoing)
    this.handling = null
    if (incoming.req !== null) call(message.fill, incoming)
    // Node's parser goes on reading at the end of each message, even where the handler has paused the socket.
    if (socket.readableFlowing === false && isComplete(incoming) && !handover.isRead(socket)) socket.resume()
  }

  received (incoming) {
    if (incoming.req !== null) call(message.complete, incoming)
  }

  makeRequest (incoming) {
    message.makeRequest(this, incoming)
  }

  makeResponse (outgoing) {
    message.makeResponse(this, outgoing)
  }

  // ---- responses

  get isOurs () { return this.front.has(this) }

  /** Decides whether the connection closes, once per response, when its header section is built. */
  closesAfter (outgoing) {
    return outgoing.incoming.section.closes || this.endsDrain(outgoing)
  }

  /** The server is closing, and no other request of this connection is pending. */
  endsDrain (outgoing) {
    return this.front.isDraining && outgoing.next === null
  }

  turnOf (outgoing) {
    if (outgoing.res !== null) response.assign(outgoing)
    else handover.setMessage(this.socket, outgoing)
    if (this.responses.length < FEW_REQUESTS) this.gate.go(MANY)
  }

  /** All responses are written. */
  empty () {
    handover.setMessage(this.socket, null)
    if (this.responses.isFlushed) this.deadlines.rest()
    else this.deadlines.touch()
    if (this.gate.leaves) this.leave()
    else this.gate.go(MANY)
  }

  drained () {
    if (this.responses.queuedBytes <= this.socket.writableHighWaterMark) this.gate.go(FULL)
  }

  /** The last response of this connection was written. */
  end () {
    if (this.socket.writableEnded) return
    handover.setMessage(this.socket, null)
    this.gate.stop(CLOSE)
    this.responses.flush()
    this.socket.destroySoon() // bytes that are not flushed are lost with the socket's 'close'
  }

  /** Does other code see each response that was flushed? */
  get seesFinish () { return watchers.seesFinished() }

  settled (outgoing, callbacks, listeners) {
    message.settled(outgoing, callbacks, listeners)
  }

  aborted (incoming) {
    message.abort(incoming)
  }

  // ---- handing over to node

  /**
   * Node gets these bytes and the socket when every response is sent. Bytes that node would reject close the
   * connection now.
   */
  unsupported (bytes) {
    this.gate.leave(bytes)
    const { isEmpty, first } = this.responses
    if (isEmpty) this.leave()
    else if (first !== null && !this.front.fallsBack()) this.gate.showTo(new Probe(this.server))
  }

  /** Gives a copy of bytes that are held for node to `probe`. */
  probed (probe, bytes) {
    probe.read(bytes)
    this.reader.time(probe.isReading)
    if (probe.error !== null) this.fail(probe.error)
    else if (probe.sawConnect && this.server.listenerCount('connect') === 0) this.socket.destroy()
    else if (this.responses.isFull) this.gate.stop(FULL)
  }

  leave () {
    if (this.isClosed || !this.isOurs) return
    this.responses.flush()
    const { reads } = this.gate.release()
    this.deadlines.wake()
    this.front.forget(this)
    const removed = handover.unwatch(this.socket)
    this.front.handOver(this.socket, reads, removed)
  }

  // ---- the end of the connection

  /** Report an error of this connection, once, as node does. */
  fail (err) {
    if (this.hasFailed) return
    this.hasFailed = true
    refuse(this.socket, err)
  }

  /** 'error' of the socket. */
  onError (err) {
    const { first } = this.responses
    this.fail(err)
    if (first !== null && first.owner !== null) this.front.failed(first.owner, err)
  }

  /** The client ended its side. End ours at once, as node does: nothing is written after that. */
  onEnd () {
    const { probe } = this.gate
    if (probe !== null) probe.end()
    const err = probe !== null && probe.error !== null ? probe.error : this.reader.end()
    if (err !== null) return this.fail(err)
    this.responses.flush()
    this.socket.end()
  }

  onClose () {
    this.isClosed = true
    this.front.forget(this)
    this.responses.loseAll(this.socket.errored || null)
    this.reader.abort()
    this.gate.close()
  }

  onDrain () {
    this.responses.advance()
    response.onDrain(this.socket)
  }

  /** Destroys a socket that timed out if no listener was called, as node does. */
  onTimeout () {
    const { socket, server } = this
    const { first } = this.responses
    const isHandled = first !== null && message.timeout(first, socket)
    if (!emit(server, 'timeout', socket) && !isHandled) socket.destroy()
  }
}

function handle (connection, incoming) {
  connection.handle(incoming)
}

function dispatch (front, incoming, outgoing) {
  front.dispatch(incoming, outgoing)
}

function take (connection, chunk) {
  connection.take(chunk)
}

function isComplete ({ body }) {
  return body === null || body.isComplete
}

function readOn (connection) {
  connection.readOn()
}

module.exports = { Connection }
