'use strict'

// `Buffer` and `process` as globals are getters: not for what runs for every request.
const { Buffer } = require('node:buffer')
const process = require('node:process')
const { parse, found, Prefix, NOT_MINE } = require('./parser')
const { Incoming } = require('./incoming')
const { Outgoing } = require('./outgoing')
const { Body } = require('./body')
const { materialize, assign, fill, complete, abort, drain, emitClose } = require('./materialize')
const { requestTimeout, unexpectedEnd, behindTheLast, refuse } = require('./errors')
const { Judge } = require('./judge')
const flat = require('./flat')

/**
 * One socket: reads, requests in the order they came, answers in the same order.
 *
 *     read → parse → dispatch ──▶ first ─▶ next ─▶ … ─▶ last      answers that are not out yet
 *                                   └─ ended? its bytes go out, the next one is first
 *
 * Reading stops for a reason and goes on when none is left:
 */
const BODY = 1    // nobody reads the request's body
const FULL = 2    // answers pile up: the client does not take them, or they wait for their turn
const QUEUE = 4   // too many requests wait for the answer in front of them
const LEAVE = 8   // what came is not ours; it waits for the answers, then node gets the socket
const CLOSE = 16  // the answer under way is the last one

/** Pipelined requests that may wait, and when to go on. */
const MOST_WAITING = 256
const FEW_WAITING = 64

/** Bodies from this size on are never copied behind their head (measured: +12 to +73 %). */
const LARGE = 16 * 1024

/** Heads are looked for in pieces of a read that are not much longer than a head may be. */
const WINDOW = 32 * 1024

/** What a string may keep in memory of the read that it is a part of, beside itself, in bytes. */
const SPARE = 2 * 1024

/** A longer head is not kept for the next request to be compared with, in bytes. */
const LONGEST_KEPT = 4 * 1024

const kConnection = Symbol('kone.connection')

class Connection {
  constructor (front, socket) {
    this.front = front
    this.server = front.server
    this.socket = socket
    this.head = null          // of the last request: most repeat it
    this.prefix = null        // of a head that is not complete
    this.partial = ''         //   and its bytes
    this.receiving = null     // the request whose body is on its way
    this.dispatching = null   // the request whose handler is being called
    this.held = null          // reads that wait until reading goes on
    this.stops = 0
    this.first = null
    this.last = null
    this.waiting = 0          // answers from first to last
    this.batch = ''           // answers that will be written together
    this.ascii = true         //   and may go out as latin1
    this.leaving = null       // answers in it (or on their way) whose end somebody wants to know
    this.scheduled = false
    this.bursting = false     // several requests came in one read
    this.streaming = false
    this.pending = 0          // bytes of answers that wait for their turn
    this.judge = null         // says what node would make of bytes that wait for its turn
    this.closed = false
    this.failed = false
    this.expired = false
    this.closing = false      // the client said that its last request was the last
    this.served = false
    this.touched = front.time // when something last happened, for the idle time
    this.started = front.time // when the message under way began; 0 without one

    socket[kConnection] = this
    socket._httpMessage = null
    socket.on('error', onError)
    socket.on('end', onEnd)
    socket.on('close', onClose)
    socket.on('drain', onDrain)
    socket.on('timeout', onTimeout)
    // Own `push` instead of 'data': saves the Readable's machinery (measured: 0.4 to 0.9 µs a read).
    socket.push = onPush
    socket.read(0)
  }

  // ---- bytes in

  /** @return {boolean} whether to go on reading */
  read (chunk) {
    this.touched = this.front.time
    if (this.stops !== 0) {
      if (this.held === null) this.held = [chunk]
      else this.held.push(chunk)
      if (this.judge !== null) this.hear(chunk)
      return this.reads
    }
    if (this.receiving !== null) {
      chunk = this.receive(chunk)
      if (chunk === null) return this.reads
    }
    if (this.closing) {
      this.behindTheLast(chunk)
      return true
    }
    if (this.prefix !== null) {
      chunk = this.continue(chunk)
      if (chunk === null) return this.reads
    }
    if (!this.front.wants()) this.leave(chunk)
    else this.requests(chunk)
    return this.reads
  }

  /** What waits for node's turn is read on for a while: its end or an error in it counts now. */
  get reads () {
    if (this.stops !== LEAVE) return this.stops === 0
    return this.held === null || length(this.held) < this.socket.readableHighWaterMark
  }

  /** The next piece of a head. Returns the bytes from its beginning, once it is complete. */
  continue (chunk) {
    const piece = chunk.latin1Slice(0, chunk.length)
    this.partial += piece
    const good = this.partial.length < this.front.maxHeaderSize && this.prefix.accepts(piece, 0)
    if (good && !this.prefix.complete) return null

    const bytes = Buffer.from(this.partial, 'latin1')
    this.partial = ''
    this.prefix = null
    if (good) return bytes
    this.leave(bytes)
    return null
  }

  /** Everything that one read holds is understood before anything is dispatched. */
  requests (chunk) {
    const size = chunk.length
    const { maxHeaderSize, maxHeadersCount } = this.front
    const window = Math.max(WINDOW, 2 * maxHeaderSize)
    let text = chunk.latin1Slice(0, Math.min(size, window))
    let offset = 0           // of text in chunk
    let at = 0               // in text
    let { head } = this
    let first = null
    let more = null
    let rest = -1            // in chunk: what is not ours, or behind the last request

    for (;;) {
      const end = parse(text, at, head, maxHeaderSize, maxHeadersCount)
      if (end <= 0) {
        if (offset + text.length < size && at > 0) {
          offset += at
          at = 0
          text = chunk.latin1Slice(offset, Math.min(size, offset + window))
          continue
        }
        if (end === NOT_MINE || text.length - at >= maxHeaderSize) rest = offset + at
        break
      }

      if (found.head !== head) {
        head = found.head
        head.block = own(head.block, text)
      }
      const incoming = new Incoming(this, found.method, found.url, head)
      if (first === null) first = incoming
      else (more ??= []).push(incoming)

      const start = offset + end
      const behind = head.length > 0 ? start + head.length : start
      if (head.length > 0) {
        const body = incoming.body = new Body(this, head.length)
        if (size >= behind) incoming.cameIn = this.front.now()
        if (size > start) body.write(behind >= size && start === 0 ? chunk : chunk.subarray(start, behind))
      }
      if (behind >= size) {
        at = -1
        break
      }
      if (head.close) {
        rest = behind
        break
      }
      if (behind - offset < text.length) {
        at = behind - offset
      } else {
        offset = behind
        at = 0
        text = chunk.latin1Slice(offset, Math.min(size, offset + window))
      }
    }

    // Node shall see the read whole; behind a waiting answer it can have no more than the rest.
    if (rest !== -1 && this.first === null) return this.leave(chunk)

    this.head = head === null || head.block.length > LONGEST_KEPT ? null : head
    this.closing = head !== null && head.close && (at === -1 || rest !== -1)
    if (rest !== -1) {
      this.started = 0
    } else if (at === -1) {
      const last = more === null ? first : more[more.length - 1]
      if (last.body !== null && last.body.missing > 0) {
        if (this.started === 0) this.started = this.front.time
        this.receiving = last
      } else {
        this.started = 0
      }
    } else {
      this.begin(own(text.slice(at), text))
    }
    if (first !== null) {
      this.bursting = more !== null
      this.front.enter(dispatch, this, first, more === null)
      if (more !== null) {
        for (const incoming of more) this.front.enter(dispatch, this, incoming, false)
        this.schedule()
      }
    }
    if (rest === -1) return
    if (this.closing) this.behindTheLast(chunk.subarray(rest))
    else this.leave(chunk.subarray(rest))
  }

  /** A head without its end. */
  begin (text) {
    this.partial = text
    this.prefix = new Prefix(this.front.maxHeadersCount)
    this.prefix.accepts(text, 0)
    if (this.started === 0 || this.served) this.started = this.front.time
  }

  /** Bytes of the body under way. Returns what is behind it, or null. */
  receive (chunk) {
    const incoming = this.receiving
    const { body } = incoming
    let rest = null
    if (chunk.length > body.missing) {
      rest = chunk.subarray(body.missing)
      chunk = chunk.subarray(0, body.missing)
    }
    const room = body.write(chunk)
    if (body.missing > 0) {
      if (!room) this.waitForReader(body)
      return null
    }
    this.receiving = null
    this.started = 0
    if (incoming.req !== null) complete(incoming)
    return rest
  }

  /** The request before said that it is the last one: node allows line breaks behind it. */
  behindTheLast (chunk) {
    if (!/^[\r\n]*$/.test(chunk.latin1Slice(0, chunk.length))) this.fail(behindTheLast())
  }

  waitForReader (body) {
    if (body.stream === null) this.stop(BODY)
    else if (!body.stream._dumped) this.socket.pause() // and onPause stops
  }

  /** Node's own stream tells by the socket's 'pause' and 'resume' whether somebody reads it. */
  streams () {
    if (this.streaming) return
    this.streaming = true
    this.socket.on('pause', onPause)
    this.socket.on('resume', onResume)
  }

  stop (why) {
    this.stops |= why
  }

  /** As node: the request that finds answers piled up is the last one for now. */
  stopIfFull () {
    const { socket } = this
    if (socket.writableNeedDrain || this.pending >= socket.writableHighWaterMark) this.stop(FULL)
  }

  go (why = BODY) {
    if (this.stops === 0) return
    this.stops &= ~why
    if (this.closed || !this.reads) return
    if (this.held !== null && this.stops === 0) this.front.run(readHeld, this)
    const { socket } = this
    if (!this.reads) return
    if (!socket.destroyed && socket[kConnection] === this) socket._read(0)
  }

  // ---- requests

  dispatch (incoming) {
    const outgoing = incoming.outgoing = new Outgoing(this, incoming)
    this.served = true
    const { socket } = this
    this.stopIfFull()
    if (this.first === null) {
      this.first = this.last = outgoing
      socket._httpMessage = outgoing
    } else {
      this.last = this.last.next = outgoing
      if (this.waiting >= MOST_WAITING) this.stop(QUEUE)
    }
    this.waiting++
    if (socket.timeout) socket.setTimeout(this.server.timeout || 0)

    this.dispatching = incoming
    try {
      this.front.dispatch(incoming, outgoing)
    } finally {
      this.dispatching = null
      if (incoming.req !== null) fill(incoming)
    }
  }

  materialize (incoming) {
    materialize(this, incoming)
  }

  closesAfter (outgoing) {
    return outgoing.incoming.head.close || (this.front.draining && outgoing.next === null)
  }

  // ---- bytes out

  /**
   * An answer of ours is ready. Alone it is written at once; several are collected and written
   * together (measured: 4 to 5 times cheaper for pipelined requests).
   *
   * @param {Outgoing} outgoing
   * @param {string} text head, and body if that is a string
   * @param {boolean} ascii
   * @param {Uint8Array|null} bytes the body otherwise
   */
  send (outgoing, text, ascii, bytes) {
    if (outgoing !== this.first) {
      outgoing.text = text
      outgoing.bytes = bytes
      outgoing.ascii = ascii
      this.buffered(text.length + (bytes === null ? 0 : bytes.length))
      return
    }
    if (outgoing.next === null && !this.bursting && this.batch === '') {
      this.write(text, ascii, bytes)
      this.finished(outgoing, this.closesAfter(outgoing))
      return
    }
    this.add(text, ascii, bytes)
    this.finished(outgoing, this.closesAfter(outgoing))
    this.schedule()
  }

  add (text, ascii, bytes) {
    this.batch += text
    this.ascii &&= ascii
    if (bytes !== null) {
      const { batch, ascii } = this
      this.batch = ''
      this.ascii = true
      this.write(batch, ascii, bytes)
    }
  }

  schedule () {
    if (this.scheduled) return
    this.scheduled = true
    process.nextTick(flush, this)
  }

  flush () {
    if (this.batch === '') return
    const { batch, ascii } = this
    this.batch = ''
    this.ascii = true
    this.write(batch, ascii, null)
    if (this.leaving !== null) this.left()
  }

  write (text, ascii, bytes) {
    const { socket } = this
    if (!socket.writable) return
    if (bytes === null) {
      socket.write(text, ascii ? 'latin1' : 'utf8')
    } else if (ascii && bytes.length < LARGE) {
      socket.write(text + latin1(bytes), 'latin1')
    } else {
      socket.cork()
      socket.write(text, ascii ? 'latin1' : 'utf8')
      socket.write(bytes)
      socket.uncork()
    }
  }

  /** Bytes of answers that wait for their turn; node's own tell as well. */
  buffered (bytes) {
    this.pending += bytes
    if (bytes < 0) this.drained()
  }

  drained () {
    if (this.stops & FULL && this.pending <= this.socket.writableHighWaterMark) this.go(FULL)
  }

  /** The first answer is out (or will be with the batch): whose turn is it? */
  finished (outgoing, last) {
    const { socket } = this
    outgoing.sent = true
    outgoing.sentIn = this.front.now()
    if (outgoing.res === null || outgoing.ended) socket._httpMessage = null
    const { body } = outgoing.incoming
    if (body !== null && body.missing > 0 && !last) body.drop()
    if (outgoing.listeners !== null) this.watch(outgoing)

    this.waiting--
    const { next } = outgoing
    this.first = next
    outgoing.next = null
    if (last) return this.end()
    if (next === null) {
      this.last = null
      this.touched = this.front.time
      if (this.stops & (QUEUE | LEAVE)) this.caughtUp()
      return
    }
    if (next.ended) {
      const { text, bytes, ascii } = next
      next.text = ''
      next.bytes = null
      this.buffered(-text.length - (bytes === null ? 0 : bytes.length))
      this.add(text, ascii, bytes)
      this.finished(next, this.closesAfter(next))
      if (next.res !== null) process.nextTick(emitClose, next.res)
      this.schedule()
    } else if (next.res !== null) {
      assign(this, next.res)
    } else {
      socket._httpMessage = next
    }
    if (this.stops & QUEUE && this.waiting < FEW_WAITING) this.caughtUp()
  }

  caughtUp () {
    if (this.stops & LEAVE) {
      if (this.first === null) this.handOver()
    } else {
      this.go(QUEUE)
    }
  }

  /** The last answer of this connection is out. */
  end () {
    this.stop(CLOSE)
    this.flush()
    this.abandon(null)
    if (typeof this.socket.destroySoon === 'function') this.socket.destroySoon()
    else this.socket.end()
  }

  /** Tell when the bytes of this answer have left the process: in order, once the batch is out. */
  watch (outgoing) {
    if (this.leaving === null) this.leaving = [outgoing]
    else this.leaving.push(outgoing)
    if (this.batch === '') this.left()
  }

  left () {
    const { leaving, socket } = this
    if (leaving === null) return
    this.leaving = null
    if (socket.writableLength === 0) for (const outgoing of leaving) outgoing.settle(null)
    else socket.write('', 'latin1', err => { for (const outgoing of leaving) outgoing.settle(err) })
  }

  /** Something is wrong with this connection: once, as node tells it. */
  fail (err) {
    if (this.failed) return
    this.failed = true
    refuse(this.socket, err)
  }

  /** Whoever still waits for an answer will not get one. */
  abandon (err) {
    let outgoing = this.first
    this.first = this.last = null
    this.waiting = 0
    if (outgoing !== null) {
      outgoing.turn = true
      if (outgoing.res === null || outgoing.ended) this.socket._httpMessage = null
    }
    while (outgoing !== null) {
      const { incoming, next } = outgoing
      incoming.aborted = true
      outgoing.gone = true
      if (incoming.body !== null) incoming.body.abort()
      if (incoming.req !== null) abort(incoming)
      outgoing.settle(err)
      outgoing = next
    }
    if (this.receiving !== null) {
      this.receiving.aborted = true
      this.receiving.body.abort()
    }
  }

  // ---- the ways out

  /**
   * These bytes are not ours. When everything in flight is answered, node gets them and the socket; but what
   * node would end the connection for ends it now.
   */
  leave (bytes) {
    this.started = 0
    this.held = this.held === null ? [bytes] : [bytes, ...this.held]
    this.stop(LEAVE)
    if (this.first === null) {
      if (this.batch === '') this.handOver()
      else process.nextTick(leaveLater, this)
    } else if (this.front.wants()) {
      this.judge = new Judge(this.server)
      for (const chunk of this.held) this.hear(chunk)
    }
  }

  hear (bytes) {
    const { judge } = this
    judge.hear(bytes)
    if (judge.error !== null) this.fail(judge.error)
    else if (judge.connect && this.server.listenerCount('connect') === 0) this.socket.destroy()
    else this.stopIfFull()
  }

  handOver () {
    const { socket, held } = this
    this.flush()
    this.forget()
    this.held = null
    this.front.debug('handed over %d bytes', length(held))
    socket.readableFlowing = null
    if (socket.timeout) socket.setTimeout(0)
    if (socket._handle && !socket._handle.reading) socket._read(0)
    // read by read: what node's parser does behind an Upgrade depends on where a read ends
    for (const chunk of held.reverse()) socket.unshift(chunk)
    this.front.handOver(socket)
  }

  /** Take everything of ours off the socket. */
  forget () {
    const { socket } = this
    this.front.connections.delete(this)
    delete socket.push
    delete socket[kConnection]
    socket.off('error', onError).off('end', onEnd).off('close', onClose).off('drain', onDrain).off('timeout', onTimeout)
    if (this.streaming) socket.off('pause', onPause).off('resume', onResume)
  }

  /** No answer is owed and no request has begun. */
  get idle () {
    return this.first === null && this.started === 0 && this.stops === 0 && this.batch === ''
  }

  /** Nothing ever came. */
  get unused () {
    return !this.served && this.prefix === null && this.stops === 0
  }

  /** The coarse clock: close what was silent for too long. */
  tick (now, slack, checkMessages) {
    const { server } = this
    if (checkMessages && this.started !== 0) {
      const age = now - this.started
      const { headersTimeout, requestTimeout: wholeTimeout } = server
      const late = timeout => timeout > 0 && age > timeout + slack
      if (late(wholeTimeout) || (this.receiving === null && late(headersTimeout))) {
        this.started = 0
        return this.fail(requestTimeout())
      }
    }
    if (this.first !== null || this.receiving !== null || !this.served) return
    const silence = now - this.touched
    const { keepAliveTimeout, keepAliveTimeoutBuffer = 1000 } = server
    if (keepAliveTimeout > 0 && silence >= keepAliveTimeout + keepAliveTimeoutBuffer + slack) {
      this.expired = true
      this.socket.emit('timeout')
      this.expired = false
    }
  }
}

// ---- listeners on the socket; `this` is the socket

function onPush (chunk) {
  const connection = this[kConnection]
  // Handed over meanwhile: false would stop a handle whose reads are node's now.
  if (chunk !== null) return connection.read(chunk) || this[kConnection] !== connection
  delete this.push
  return this.push(null)
}

function onError (err) {
  const connection = this[kConnection]
  const { first, front } = connection
  connection.fail(err)
  if (first !== null && first.owner !== null) front.failed(first.owner, err)
}

/** The client ends its side: as node, so do we, at once; what is not answered never will be. */
function onEnd () {
  const connection = this[kConnection]
  const { judge } = connection
  if (judge !== null) judge.end()
  if (judge !== null && judge.error !== null) {
    connection.fail(judge.error)
  } else if (connection.prefix !== null || connection.receiving !== null) {
    connection.fail(unexpectedEnd())
  } else {
    connection.flush()
    this.end()
  }
}

function onClose () {
  const connection = this[kConnection]
  connection.closed = true
  connection.front.connections.delete(connection)
  connection.abandon(this.errored || null)
}

function onDrain () {
  const connection = this[kConnection]
  connection.drained()
  drain(this)
}

/** Without anybody who cares, node destroys a socket that timed out. */
function onTimeout () {
  const connection = this[kConnection]
  const { first, server } = connection
  // While a connection is idle only keepAliveTimeout counts.
  if (connection.idle && connection.served && !connection.expired) return
  let heard = false
  if (first !== null && first.res !== null) {
    const { req } = first.incoming
    heard = !req.complete && req.emit('timeout', this)
    heard = first.res.emit('timeout', this) || heard
  }
  heard = server.emit('timeout', this) || heard
  if (!heard) this.destroy()
}

function onPause () {
  this[kConnection].stop(BODY)
}

function onResume () {
  this[kConnection].go(BODY)
}

function readHeld (connection) {
  while (connection.held !== null && connection.stops === 0) {
    const chunk = connection.held.shift()
    if (connection.held.length === 0) connection.held = null
    connection.read(chunk)
  }
}

function length (chunks) {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}

/** A part of a read's text, for longer than the read: not with all the rest of it. */
function own (part, text) {
  return text.length - part.length > SPARE ? flat(part) : part
}

function dispatch (connection, incoming) {
  connection.dispatch(incoming)
}

function flush (connection) {
  connection.scheduled = connection.bursting = false
  connection.flush()
}

function leaveLater (connection) {
  if (!connection.closed && connection.first === null) connection.handOver()
}

function latin1 (bytes) {
  if (Buffer.isBuffer(bytes)) return bytes.latin1Slice()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).latin1Slice()
}

module.exports = { Connection, kConnection }
