'use strict'

const { counts } = require('../_shared/sockets')
const { clearTimeout, clearInterval, nextTick, setImmediate, setInterval, setTimeout } = require('../../lib/shared/timers')

const NORMAL = 1000
const LEAVING = 1001
const ABNORMAL = 1006
const BEHIND = 1013

/** Until a client is disconnected that does not respond to the server's close, in ms. */
const LONGEST_LEAVE = 2000

const LONGEST_SILENCE = 2 // pings

/** Places of `held` whose messages were read: they are removed when there are more, and more than of unread ones. */
const FEW_TAKEN = 64

/** Bytes that a message counts beside its data: a client may send a million messages of one byte or none. */
const BESIDE = 64

/** The code of errors of send(). */
const CLOSED = 'KONE_ERR_SOCKET_CLOSED'

const classes = new WeakMap() // ws's class → ours

/**
 * The class of sockets: ws's, with what waits: a loop over messages, `send` as a promise, `closed`.
 *
 * @param {Function} WebSocket
 * @return {Function}
 */
function socketOf (WebSocket) {
  if (!classes.has(WebSocket)) classes.set(WebSocket, create(WebSocket))
  return classes.get(WebSocket)
}

function create (WebSocket) {
  const { emit } = WebSocket.prototype

  return class KoneSocket extends WebSocket {
    constructor (...args) {
      super(...args)
      this.context = null       // an AsyncResource: that of the handler
      this.connection = null
      this.earlier = 0          // bytes of responses before the 101
      this.settings = null
      this.others = null        // open sockets of the server, with this one
      this.released = null
      this.held = []            // messages that nobody has read yet: data, isBinary, data, …
      this.next = 0             // the first of them
      this.heldBytes = 0
      this.waiting = null       // resolves next() of a loop
      this.isDropping = false   // the handler has ended
      this.isStopped = false    // reading, because enough is held
      this.hasListened = false  // for 'message'
      this.silence = 0          // pings without a response
      this.beat = undefined
      this.leaveTimer = undefined
      this.loose = 0            // bytes of sends that nobody awaits
      this.isChecking = false
      this.outcome = null       // { code, reason }
      this.onOutcome = null
      this.whenClosed = null
    }

    /**
     * The 101 is sent, and the handler runs next.
     *
     * @param {object} settings
     * @param {any} [handshake] of a server's socket
     */
    begin (settings, { context, connection, earlier, others, released } = {}) {
      this.settings = settings
      this.context = context ?? null
      this.connection = connection ?? null
      this.earlier = earlier ?? 0
      this.others = others?.add(this)
      this.released = released
      this.counts.open++
      if (settings.heartbeat > 0) this.beat = setInterval(beat, settings.heartbeat, this).unref()
    }

    /** What metrics shows. */
    get counts () {
      return counts
    }

    /** Resolves when the connection is closed: `{ code, reason }`. */
    get closed () {
      this.whenClosed ??= this.outcome !== null
        ? Promise.resolve(this.outcome)
        : new Promise(resolve => { this.onOutcome = resolve })
      return this.whenClosed
    }

    /** Those that were written, for logger. */
    bytes () {
      return this.connection.bytesWritten - this.earlier
    }

    // ---- messages

    on (event, listener) {
      super.on(event, listener)
      if (event === 'message') this.listens()
      return this
    }

    once (event, listener) {
      super.once(event, listener)
      if (event === 'message') this.listens()
      return this
    }

    addListener (event, listener) {
      return this.on(event, listener)
    }

    listens () {
      this.hasListened = true
      if (this.held.length > 0) nextTick(passHeld, this)
    }

    emit (event, one, two) {
      if (event === 'message') return this.receive(one, two)
      if (event === 'pong') this.silence = 0
      if (event === 'close') this.conclude(one, two)
      if (this.listenerCount(event) === 0) return false // also 'error': what a peer sends is no error of the app
      return this.notify(event, one, two)
    }

    /** In the handler's context, as are its own calls. */
    notify (event, one, two) {
      if (this.context === null) return emit.call(this, event, one, two)
      return this.context.runInAsyncScope(emitSafely, this, emit, event, one, two)
    }

    receive (data, isBinary) {
      this.counts.received++
      this.silence = 0
      if (this.isDropping) return false
      const { waiting } = this
      if (waiting !== null) {
        this.waiting = null
        waiting({ value: isBinary ? data : data.toString(), done: false })
        return true
      }
      if (this.held.length === 0 && this.listenerCount('message') > 0) return this.notify('message', data, isBinary)
      this.held.push(data, isBinary)
      this.heldBytes += data.length + BESIDE
      if (this.heldBytes >= this.settings.maxPayload && !this.isStopped) this.stop()
      return false
    }

    stop () {
      this.isStopped = true
      this.pause()
    }

    /** @return {Array} the first message that is held: data, isBinary */
    take () {
      const { held, next } = this
      const message = [held[next], held[next + 1]]
      held[next] = undefined
      this.next += 2
      // a loop may always be behind
      if (this.next === held.length || (this.next > FEW_TAKEN && this.next > held.length / 2)) {
        held.splice(0, this.next)
        this.next = 0
      }
      this.heldBytes -= message[0].length + BESIDE
      if (this.isStopped && this.heldBytes < this.settings.maxPayload) this.goOn()
      return message
    }

    goOn () {
      this.isStopped = false
      this.resume()
    }

    [Symbol.asyncIterator] () {
      return new Messages(this)
    }

    /** Of a loop. */
    read () {
      if (this.held.length > 0) {
        const [data, isBinary] = this.take()
        return Promise.resolve({ value: isBinary ? data : data.toString(), done: false })
      }
      if (this.outcome !== null || this.isDropping) return Promise.resolve({ value: undefined, done: true })
      if (this.waiting !== null) return Promise.reject(new Error('websocket: two loops read one socket'))
      return new Promise(resolve => { this.waiting = resolve })
    }

    // ---- sending

    /**
     * As ws's with a callback. Without one it returns a promise, which is fulfilled when the system has taken the
     * message; it never becomes an unhandled rejection.
     */
    send (data, options, callback) {
      this.counts.sent++
      if (typeof options === 'function' || typeof callback === 'function') return super.send(data, options, callback)
      // The system mostly takes a message at once: then there is nothing to wait for, and no callback. See Sent.
      if (this.isIdle && this.readyState === WebSocket.OPEN) {
        super.send(data, options)
        return this.isIdle ? SENT : new Sent(this, sizeOf(data)).behind(this.connection)
      }
      const sent = new Sent(this, sizeOf(data))
      super.send(data, options, err => sent.settle(err))
      return sent
    }

    /** Does nothing wait for the system? Over TLS something always does, until its encryption has ended. */
    get isIdle () {
      return this.bufferedAmount === 0 && this.connection?.writable === true
    }

    /** @param {number} bytes of a send that nobody awaits yet; negative when it has ended, or is awaited */
    count (bytes) {
      this.loose += bytes
      if (this.isChecking || this.loose <= this.settings.maxBufferedAmount) return
      this.isChecking = true
      setImmediate(check, this) // who awaits it does so in this turn
    }

    check () {
      this.isChecking = false
      if (this.loose > this.settings.maxBufferedAmount) this.end(BEHIND)
    }

    // ---- the end

    /** The handler has ended, with an error if there is a code. */
    finish (code) {
      if (code === undefined && this.hasListened) return
      this.drop()
      this.close(code ?? NORMAL)
    }

    /** What nobody reads any more must not keep the close of the other side from being read. */
    drop () {
      this.isDropping = true
      this.held.length = this.next = this.heldBytes = 0
      if (this.isStopped) this.goOn()
    }

    leave () {
      this.end(LEAVING)
    }

    end (code) {
      if (this.outcome !== null || this.leaveTimer !== undefined) return
      this.close(code)
      if (this.isStopped) this.goOn()
      this.leaveTimer = setTimeout(terminate, LONGEST_LEAVE, this)
    }

    conclude (code, reason) {
      this.counts.open--
      clearInterval(this.beat)
      clearTimeout(this.leaveTimer)
      this.outcome = { code: code ?? ABNORMAL, reason: String(reason) }
      if (this.waiting !== null) this.waiting({ value: undefined, done: true })
      this.waiting = null
      this.onOutcome?.(this.outcome)
      this.others?.delete(this)
      this.released?.()
    }
  }
}

/** What a loop over messages reads. */
class Messages {
  #socket

  constructor (socket) {
    this.#socket = socket
  }

  next () {
    return this.#socket.read()
  }

  async return (value) {
    return { value, done: true }
  }

  [Symbol.asyncIterator] () { return this }
}

/** What send() returns when the system has taken the message already: it mostly does. */
const SENT = Promise.resolve()

/**
 * What send() returns otherwise: a promise that is made when somebody awaits it, because most sends of a server are not
 * awaited. A failure that nobody awaits is dropped.
 */
class Sent {
  constructor (socket, size) {
    this.socket = socket
    this.size = size
    this.outcome = undefined // null: sent; an Error
    this.promise = null
    this.resolve = this.reject = null
    socket.count(size)
  }

  get [Symbol.toStringTag] () { return 'Promise' }

  then (onFulfilled, onRejected) {
    return this.awaited().then(onFulfilled, onRejected)
  }

  catch (onRejected) {
    return this.awaited().catch(onRejected)
  }

  finally (fn) {
    return this.awaited().finally(fn)
  }

  awaited () {
    this.release()
    this.promise ??= new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
      if (this.outcome !== undefined) this.conclude()
    })
    return this.promise
  }

  /** The message is written: it is sent when an empty write behind it is. */
  behind (connection) {
    connection.write('', 'latin1', err => this.settle(err))
    return this
  }

  settle (err) {
    this.release()
    this.outcome = err ? closed(err) : null
    if (this.promise !== null) this.conclude()
  }

  conclude () {
    if (this.outcome === null) this.resolve()
    else this.reject(this.outcome)
  }

  /** It has ended, or somebody awaits it. */
  release () {
    if (this.size > 0) this.socket.count(-this.size)
    this.size = 0
  }
}

/** The client may leave at any time: a handler that fails by it has no error of its own. */
function closed (cause) {
  return Object.assign(new Error('the WebSocket is closed', { cause }), { code: CLOSED })
}

/**
 * What a listener throws becomes an uncaught exception in the handler's context, where isolate finds the request.
 *
 * @this {any}
 */
function emitSafely (emit, event, one, two) {
  try {
    return emit.call(this, event, one, two)
  } catch (err) {
    nextTick(raise, err)
    return true
  }
}

function raise (err) {
  throw err
}

function passHeld (socket) {
  while (socket.held.length > 0 && socket.listenerCount('message') > 0) socket.notify('message', ...socket.take())
}

function sizeOf (data) {
  const size = typeof data === 'string' ? data.length : data?.byteLength ?? data?.size ?? String(data).length
  return size + BESIDE
}

function check (socket) {
  socket.check()
}

function beat (socket) {
  if (socket.readyState !== socket.constructor.OPEN) return
  if (!socket.isStopped && socket.silence >= LONGEST_SILENCE) return socket.terminate()
  if (!socket.isStopped) socket.silence++
  socket.ping()
}

function terminate (socket) {
  socket.terminate()
}

module.exports = { CLOSED, socketOf }
