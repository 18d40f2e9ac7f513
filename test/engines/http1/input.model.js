'use strict'

/*
 * An exhaustive search on the input side: each sequence of events up to a depth, on a real net.Socket over a handle in
 * place of the kernel's, with a high-water mark of 8 bytes, on the front and on node:http beside each other.
 *
 *    node test/engines/http1/input.model.js --depths 8,6,4 --variant 'chunked, TLS'
 *    node test/engines/http1/input.model.js --path 'head size data iterator crlf'
 *
 * The client does what the grammar of the wire allows (FOLLOWS). Two of its events may be joined: `a+b` come in one read,
 * `a,b` in one callback of the socket, `a~b` in one turn, with ticks and microtasks between. The app reads the body by one
 * of READERS, from its handler or from later on, goes on with that, and makes its response: ACTS. Behind each path comes a
 * closure: the client goes on, the reader takes all, the response ends. What is right then on node:http (goals()) must be right
 * on the front.
 *
 * A path is not continued if an earlier one has led to the same pair of states, that of the front and that of node:http.
 */

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const process = require('node:process')
const { setImmediate: turn } = require('node:timers/promises')

const timers = require('../../../lib/shared/timers')
timers.setInterval = timers.setTimeout = () => ({ unref () { return this } }) // a path does not depend on the load of the machine

const { attach } = require('../../../lib/front')
const { readStream } = require('../../../lib/engines/objects/body')
const commandLine = require('../../../tools/command-line')
const { Handle } = require('./output.model')

const MARK = 8      // high-water mark, and the size of a piece of a body, in bytes
const BATCH = 500   // paths that run beside each other
const SETTLED = 4   // turns of the event loop behind a step
const ROUNDS = 20   // of a closure, at most

// ---- the client

const FIN = 'fin'
const RST = 'rst'
const OVER = 'over'

/** The bytes of an event. */
const BYTES = {
  chunked: 'POST /0 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
  length: `POST /0 HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * MARK}\r\n\r\n`,
  whole: `POST /0 HTTP/1.1\r\nHost: a\r\nContent-Length: ${MARK}\r\n\r\n`, // with its body
  last: 'POST /0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n',
  http10: `POST /0 HTTP/1.0\r\nContent-Length: ${2 * MARK}\r\n\r\n`,
  size: `${MARK}\r\n`,
  crlf: '\r\n',
  end: '0\r\n\r\n',
  zero: '0\r\n',
  trailer: 'X: y\r\n\r\n',
  next: 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n',
  trace: 'TRACE /1 HTTP/1.1\r\nHost: a\r\n\r\n',
  junk: '\0\0'
}

/** The pieces of a body differ, so that each is known. */
const DATA = ['abcdefgh', 'ijklmnop', 'qrstuvwx']

/** For these node gets the connection, when every response is flushed. */
const NODES = ['trace', 'junk']

const NEXT = { next: OVER, trace: OVER, junk: OVER }
const CHUNKS = {
  size: { end: 'next', size: 'data', zero: 'trailer', junk: OVER },
  data: { data: 'crlf' },
  crlf: { crlf: 'size', junk: OVER },
  trailer: { trailer: 'next' },
  next: NEXT,
  over: {}
}

/** What a client sends: its state → event → its next state. FIN and RST may always come. A closure sends the first one. */
const FOLLOWS = {
  chunked: { head: { chunked: 'size' }, ...CHUNKS },
  length: { head: { length: 'first', whole: 'next' }, first: { data: 'second' }, second: { data: 'next' }, next: NEXT, over: {} },
  http10: { head: { http10: 'first' }, first: { data: 'second' }, second: { data: 'next' }, next: {}, over: {} },
  last: { head: { last: 'size' }, ...CHUNKS, next: {} }
}

const READ = '+'
const CALLBACK = ','
const TURN = '~'
const JOINED = /[+,~]/
const isJoined = step => JOINED.test(step)

/** What is not the usual way of an upload. The more of these steps a path has, the shorter it is: see search(). */
const ODD = /[+,~]|rst|junk|trace|zero|destroy|leave|closeIdle|part|begin|pause/
const isOdd = step => ODD.test(step)

/** Does what libuv and a TLS socket do. A write over TLS is taken when the next step has run. */
class Wire extends Handle {
  constructor (isTLS, isNodes) {
    super(isTLS)
    this.isBlocked = isTLS
    this.isNodes = isNodes
  }

  readStart () {
    // Node's parser reads the handle itself: a paused socket does not read on up to its high-water mark.
    this.reading = !(this.isNodes && this.socket?.isPaused())
    if (this.reading && this.unread.length > 0) setImmediate(() => this.poll())
    return 0
  }

  /** Over TCP all bytes that have come are one read. */
  poll () {
    if (!this.reading) return
    if (!this.isTLS) {
      const count = this.unread.findIndex(one => !Buffer.isBuffer(one))
      const bytes = this.unread.splice(0, count === -1 ? this.unread.length : count)
      if (bytes.length > 0) this.unread.unshift(Buffer.concat(bytes))
    }
    this.pass()
  }

  /** Over TLS all records that are decrypted, although the socket has stopped. */
  pass () {
    do this.take(this.unread.shift())
    while (this.unread.length > 0 && (this.reading || this.isTLS))
  }

  take (one) {
    if (this.socket.destroyed || this.hasEnded) return
    if (one === RST) this.reset()
    else if (one === FIN) this.end()
    else if (!this.socket.push(one)) this.reading = false
  }

  /** The client's bytes, FIN or RST; `isBehind` others of the same turn. */
  arrive (one, isBehind) {
    this.unread.push(one)
    if (this.unread.length === 1 && (this.reading || (this.isTLS && isBehind))) this.pass()
  }
}

// ---- the app

/** Who reads the body of a request, which run.take() gets. */
const READERS = {
  ondata (run, req) { req.on('data', bytes => run.take(bytes)).on('end', () => run.end()) },

  /** Responds in its listener for 'end'. */
  onend (run, req) {
    READERS.ondata(run, req)
    req.on('end', () => run.respond())
  },

  /** One piece at a time: see ACTS. */
  iterator (run, req) { run.iterator = req[Symbol.asyncIterator]() },

  /** Reads to the end, and responds in the same microtask. */
  async forawait (run, req) {
    for await (const bytes of req) run.take(bytes)
    run.end()
    run.respond()
  },

  async readBody (run) {
    run.take(await run.request.readBody())
    run.end()
    run.respond()
  },

  /** A second reader begins at once. */
  twice (run) {
    const first = READERS.readBody(run)
    run.readAgain()
    return first
  },

  /** Listens for the end once it has got a piece. */
  async once (run, req) {
    run.take((await once(req, 'data'))[0])
    await once(req, 'end')
    run.end()
    run.respond()
  },

  readable (run, req) {
    req.on('readable', () => { for (let bytes; (bytes = req.read()) !== null;) run.take(bytes) }).on('end', () => run.end())
  },

  /** Leaves the rest. */
  part (run, req) {
    req.once('readable', () => {
      req.read(3)
      run.hasLeft = true
    })
  }
}

/** Those that get each byte. */
const WHOLE = ['ondata', 'onend', 'iterator', 'forawait', 'readBody', 'twice', 'readable']

/** What the app does → when it can, and how. */
const ACTS = {
  ...Object.fromEntries(Object.keys(READERS).map(name => [name, [run => run.reader === '', run => run.read(name)]])),
  take: [run => run.canTake, run => run.next()],
  leave: [run => run.canTake, run => run.leave()],
  pause: [run => run.flows && !run.req.isPaused(), run => run.req.pause()],
  resume: [run => run.flows && run.req.isPaused(), run => run.req.resume()],
  begin: [run => run.isOpen && !run.hasBegun, run => run.begin()],
  respond: [run => run.isOpen, run => run.respond()],
  destroy: [run => run.isOpen, run => run.destroy()],
  closeIdle: [run => !run.isClosing && run.handle.waiting.length === 0, run => run.closeIdle()]
}

/** In front of what the handler does before it returns. */
const HANDLER = 'handler:'
const EARLY = [...Object.keys(READERS), 'begin', 'respond', 'destroy'].map(name => HANDLER + name)

// ---- servers

const kRun = Symbol('run')
const kFront = Symbol.for('kone.front')

/** Gets node's own objects: also those of a request that the front has handed over. */
function listener (req, res) {
  const readBody = () => readStream(req, Infinity)
  req.socket[kRun].dispatch(req.url, { req: () => req, res: () => res, readBody, end: text => res.end(text) })
}

const ENGINES = {
  front () {
    const server = http.createServer(listener)
    const ignore = () => {}
    const dispatch = (incoming, outgoing) => incoming.socket[kRun].dispatch(incoming.url, {
      req: () => incoming.materialize(),
      res: () => outgoing.materialize(),
      readBody: () => incoming.readBody(),
      end: text => outgoing.end(text)
    })
    server.emit('listening') // it lists its connections from now on
    assert(attach(server, { listener, dispatch, failed: ignore, fellBack: ignore, handedOver: ignore, reason: () => '' }))
    return server
  },

  node () {
    const server = http.createServer(listener)
    server.emit('listening')
    return server
  }
}

const servers = {}

// ---- one path on one engine

class Run {
  constructor (engine, { client, isTLS }, path) {
    this.engine = engine
    this.path = path
    this.client = FOLLOWS[client]
    this.early = path[0]?.startsWith(HANDLER) ? path[0].slice(HANDLER.length) : ''

    this.position = 'head'  // of the client
    this.sent = ''          // of the body
    this.isWhole = false    // the body was sent to its end
    this.isCut = false      // FIN or RST was sent
    this.behind = ''        // what was sent behind the body

    this.request = null
    this.hasNext = false    // the next request has come
    this.reader = ''
    this.isInTime = false   // it came before the last byte
    this.isLate = false     //   and behind the response
    this.sawReset = false   //   and behind a reset that was noticed
    this.again = ''         // the second reader
    this.req = null
    this.iterator = null
    this.isTaking = this.isOver = this.hasLeft = this.hasFailed = false
    this.received = ''
    this.ends = 0           // how often the reader saw the end
    this.hasBegun = this.hasResponded = this.isDestroyed = this.isClosing = false
    this.thrown = ''

    // One of its own where a path closes it.
    this.server = path.includes('closeIdle') ? ENGINES[engine]() : (servers[engine] ??= ENGINES[engine]())
    const handle = this.handle = new Wire(isTLS, engine === 'node')
    const socket = this.socket = new net.Socket({ handle, allowHalfOpen: true, highWaterMark: MARK })
    handle.socket = socket
    socket[kRun] = this
    socket.server = socket._server = this.server
    this.server._connections = 2 // never 0, because 'close' follows
    if (isTLS) socket.encrypted = true
    this.server.emit('connection', socket)
  }

  get isOpen () { return this.request !== null && !this.hasResponded && !this.isDestroyed }
  get canTake () { return this.iterator !== null && !this.isTaking && !this.isOver }
  get flows () { return this.req !== null && !this.req.destroyed && ['ondata', 'onend', 'once'].includes(this.reader) }

  // ---- steps

  /** @return {string[]} what may come next, at most so many events */
  steps (most) {
    const steps = []
    for (const one of this.sends(this.position)) {
      steps.push(one)
      if (most < 2 || one === FIN || one === RST) continue
      for (const two of this.sends(this.client[this.position][one])) {
        const isEnd = two === FIN || two === RST
        if (!isEnd) steps.push(one + READ + two)
        // Only the end of TLS is a record like any other.
        if (!isEnd || (two === FIN && this.handle.isTLS)) steps.push(one + CALLBACK + two)
        steps.push(one + TURN + two)
      }
    }
    if (this.path.length === 0) steps.push(...EARLY)
    if (this.request !== null) for (const [name, [can]] of Object.entries(ACTS)) if (can(this)) steps.push(name)
    return steps
  }

  sends (position) {
    if (this.isCut) return []
    const next = Object.keys(this.client[position])
    return position === 'head' ? next : [...next, FIN, RST]
  }

  /** An event, or two that are joined. */
  perform (step) {
    if (step.startsWith(HANDLER)) return
    if (step in ACTS) return this.act(step)
    const [one, two] = step.split(JOINED)
    if (two === undefined) return this.handle.arrive(this.send(one), false)
    const [join] = JOINED.exec(step)
    const bytes = [this.send(one), this.send(two)]
    if (join === READ) return this.handle.arrive(Buffer.concat(bytes), false)
    this.handle.arrive(bytes[0], false)
    if (join === CALLBACK) this.handle.arrive(bytes[1], true)
    else afterTicks(() => this.handle.arrive(bytes[1], true))
  }

  /** @return {Buffer|string} what the client sends, FIN or RST */
  send (event) {
    if (event === FIN || event === RST) {
      this.isCut = true
      return event
    }
    const data = event === 'data' || event === 'whole' ? DATA[this.sent.length / MARK % DATA.length] : ''
    const text = (BYTES[event] ?? '') + data
    this.sent += data
    if (this.position === 'next' || event === 'junk') this.behind = event
    this.position = this.client[this.position][event]
    this.isWhole ||= this.position === 'next'
    return Buffer.from(text)
  }

  act (name) {
    const [can, does] = ACTS[name]
    if (!can(this)) return
    try {
      does(this)
    } catch (err) {
      this.thrown ||= `${name}: ${err.message}`
    }
  }

  // ---- what the app does

  dispatch (url, request) {
    if (url === '/1') {
      this.hasNext = true
      request.end('second')
    } else {
      this.request = request
      if (this.early !== '') this.act(this.early)
    }
  }

  read (name) {
    this.reader = name
    this.isInTime = !this.isWhole
    this.isLate = this.hasResponded
    this.sawReset = this.isCut && this.seesReset
    if (name !== 'readBody' && name !== 'twice') {
      this.req = this.request.req()
      this.req.on('error', () => { this.hasFailed = true })
    }
    Promise.resolve(READERS[name](this, this.req)).catch(() => { this.hasFailed = true })
  }

  async readAgain () {
    this.again = 'reads'
    try {
      for await (const bytes of this.request.req()) this.again += bytes
    } catch {}
    this.again = 'settled'
  }

  take (bytes) { this.received += bytes }
  end () { this.ends++ }

  async next () {
    this.isTaking = true
    try {
      const { done, value } = await this.iterator.next()
      if (!done) this.take(value)
      else this.isOver = true
      if (done) this.end()
    } catch {
      this.hasFailed = this.isOver = true
    }
    this.isTaking = false
  }

  leave () {
    this.hasLeft = this.isOver = true
    this.iterator.return()
  }

  begin () {
    this.hasBegun = true
    this.res().write('begun')
  }

  respond () {
    if (!this.isOpen) return
    this.hasResponded = true
    if (this.hasBegun) this.res().end('first')
    else this.request.end('first')
  }

  destroy () {
    this.isDestroyed = true
    this.res().destroy()
  }

  res () { return this.request.res().on('error', () => {}) }

  closeIdle () {
    this.isClosing = true
    this.server.closeIdleConnections()
  }

  // ---- the closure

  goOn () {
    const [next] = Object.keys(this.client[this.position])
    if (!this.isCut && this.handle.unread.length === 0 && next !== undefined) this.perform(next)
    if (this.flows && this.req.isPaused()) this.act('resume')
    if (this.canTake) this.act('take')
    const isRead = this.reader === '' || this.ends > 0 || this.hasFailed || this.hasLeft
    if (this.isOpen && isRead) this.act('respond')
  }

  get text () { return Buffer.concat(this.handle.written).toString('latin1') }

  /** What moves on in a closure. */
  get progress () {
    return `${this.handle.size} ${this.handle.unread.length} ${this.position} ${this.received.length} ${this.ends} ${this.handle.isClosed}`
  }

  /** Node gets what is behind the body when the response is flushed, and nothing where the client ends its side before. */
  get waits () { return NODES.includes(this.behind) && (!this.hasResponded || this.isCut) }

  /** The client has left without its response: whether its body was whole, is known too late. */
  get isLost () { return (this.isCut || this.isDestroyed) && !this.text.includes('first') }

  /** @return {object} what may be expected → whether it is so */
  goals (waits, isLost) {
    const { text, handle, socket } = this
    const isRead = WHOLE.includes(this.reader) && !this.isBehindLast
    const isForNode = NODES.includes(this.behind)
    const isGone = this.path.some(step => step.endsWith(RST)) // the client notices nothing
    const isEnded = handle.isShut && !handle.hasEnded && handle.unread.length === 0 // it waits for the client's FIN
    return {
      'the request comes': this.request !== null,
      'its reader gets all bytes': isRead && this.received === this.sent && !isGone && !(waits && this.isCut),
      'its reader gets the end': this.ends > 0 ? !isLost && !isGone && !this.isBehindLast : this.mustEnd && this.engine === 'node',
      'its reader is not kept waiting': (this.ends > 0 || this.hasFailed || this.hasLeft) && !isForNode && !this.isBehindLast,
      'its second reader is not kept waiting': this.again !== 'reads' && !this.isBehindLast,
      'each byte comes once': !isRead || this.sent.startsWith(this.received),
      'the end comes once': this.ends <= 1,
      'its response is sent': text.includes('first') && !waits && !isGone,
      'its response is sent once': text.split('first').length <= 2,
      'the next request comes': this.hasNext && !waits,
      'the next response is sent': text.includes('second') && !waits && !isGone,
      'the client gets a response': text !== '' && !waits && !isGone,
      'the connection is closed': (handle.isClosed || isEnded) && !waits && !isGone && !this.isOpen,
      'the connection stays open': !handle.isClosed && !waits && !this.isCut,
      'all is read': handle.unread.length === 0 && !waits && !this.isDestroyed && !isGone,
      'the connection is idle': handle.isClosed || !text.includes('second') || this.engine === 'node' || this.connection === undefined ||
        this.server[kFront].silentSockets().has(socket),
      'nothing is thrown': this.thrown === ''
    }
  }

  /**
   * Node's parser reads the handle itself, and lets microtasks run between the last bytes of a body and its end. Here it
   * cannot, so this is what node would do.
   */
  get mustEnd () {
    const isDisturbed = this.path.some(step => /pause|destroy|closeIdle|respond|begin/.test(step))
    return this.reader === 'once' && this.isInTime && this.isWhole && this.sent !== '' && !this.isCut && !isDisturbed
  }

  /** Behind the end of a response with `Connection: close` the front reads nothing. */
  get isBehindLast () { return this.hasResponded && this.path.some(step => /last|http10/.test(step)) }

  get seesReset () { return !this.handle.unread.includes(RST) }

  get connection () {
    const symbol = Object.getOwnPropertySymbols(this.socket).find(({ description }) => description === 'kone.connection')
    return this.socket[symbol]
  }

  // ---- the state

  digest () {
    const { handle, socket, req, connection, reader, text } = this
    const states = [
      this.request === null ? this.early : '', this.position, this.isCut, this.behind,
      this.ends > 0 || this.hasFailed ? '' : reader, this.isLate, this.sawReset, this.again, this.isTaking, this.isOver, this.hasLeft,
      this.hasFailed, this.ends, this.hasBegun, this.hasResponded, this.isDestroyed, this.isClosing, this.hasNext,
      this.thrown, WHOLE.includes(reader) ? Math.min(this.sent.length - this.received.length, 3 * MARK) : '',
      handle.reading, handle.unread.map(one => one.length).join(), handle.hasEnded, handle.isShut, handle.isClosed,
      handle.waiting.length,
      text.length > 0, text.includes('first'), text.includes('second'), text.includes(' 400 '),
      socket.destroyed, ...stream(socket), ...req === null ? [] : stream(req)
    ]
    if (connection !== undefined) {
      const { gate, reader, responses } = connection
      const body = reader.receiving?.body
      states.push(...plain(connection), ...plain(gate), gate.held?.bytes, reader.sawLast, reader.partial?.size)
      if (body) states.push(body.state, body.stream !== null, Math.min(body.buffered, 3 * MARK))
      if (reader.chunks) states.push(...plain(reader.chunks))
      states.push(responses.isFlushed, responses.first?.state, responses.flushing?.length)
    }
    return states
  }
}

/** Of what a Readable remembers, what decides how it goes on. */
function stream ({ _readableState: state }) {
  const { length, flowing, ended, endEmitted, reading, needReadable, readableListening, destroyed } = state
  return [length, flowing, ended, endEmitted, reading, needReadable, readableListening, destroyed]
}

/** The numbers, booleans and nulls of an object. */
function plain (object) {
  const values = []
  for (const key of Reflect.ownKeys(object)) {
    const value = object[key]
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) values.push(value)
  }
  return values
}

/** Behind the ticks and microtasks of now, and those that they begin. */
function afterTicks (fn, times = 4) {
  process.nextTick(() => Promise.resolve().then(() => times > 1 ? afterTicks(fn, times - 1) : fn()))
}

// ---- the search

const VARIANTS = {
  'chunked, TCP': { client: 'chunked', isTLS: false },
  'chunked, TLS': { client: 'chunked', isTLS: true },
  'length, TCP': { client: 'length', isTLS: false },
  'length, TLS': { client: 'length', isTLS: true },
  'HTTP/1.0, TCP': { client: 'http10', isTLS: false },
  'last, TLS': { client: 'last', isTLS: true } // what arrives while the last response is flushed: over TCP that is at once
}

async function settle (turns = SETTLED) {
  for (let i = 0; i < turns; i++) await turn()
}

/** Runs paths beside each other, and calls `between` before their closure with the runs, which gives those to close. */
async function play (variant, paths, between = runs => runs) {
  const pairs = paths.map(path => ['front', 'node'].map(engine => new Run(engine, variant, path)))
  const runs = pairs.flat()
  const escaped = []
  process.setUncaughtExceptionCaptureCallback(null)
  process.setUncaughtExceptionCaptureCallback(err => escaped.push(err)) // before the test runner's listener
  try {
    await settle(1)
    const longest = Math.max(...paths.map(path => path.length))
    for (let i = 0; i < longest; i++) await step(runs.filter(({ path }) => i < path.length), run => run.perform(run.path[i]))
    const closed = between(pairs)
    await close(closed.flat())
    return { escaped, closed, missed: closed.map(missedBy) }
  } finally {
    for (const { socket } of runs) socket.destroy()
    await settle(2)
    process.setUncaughtExceptionCaptureCallback(null)
  }
}

/**
 * A handler has begun its response, another request comes in the same read, and later a FIN. It loses the response on
 * the front, as on node:http over TCP, where node's parser reads the handle, and the write is flushed between the requests.
 * Where the parser gets its bytes by 'data', as over TLS and here, what the tick has written is in the buffer. With a mark
 * below that, node reads no more before the response has ended. (Node 24.22 and 26 write so few bytes later. With 100 KB and
 * a real TLS socket they do the same.)
 */
const STOPPED = /^handler:begin whole\+next .*fin/

/**
 * Not what comes behind a response that only the front has sent, behind a reset that only one of them has noticed, or where
 * only the front has read all that has come before the server closes what is idle. Not a body either that is read behind the
 * response, if node gets the connection: node:http has lost the response, and keeps the body. And not STOPPED.
 */
function areComparable (front, node) {
  const hasMore = (front.handle.isClosed && !node.handle.isClosed) || front.ends > node.ends
  const hasReset = front.seesReset === node.seesReset && front.sawReset === node.sawReset
  const isIdle = front.isClosing && front.hasResponded && hasMore
  const isBehind = front.hasResponded && !node.hasResponded && !(front.mustEnd && front.ends === 0)
  return !isBehind && !STOPPED.test(front.path.join(' ')) && !(front.isLate && NODES.includes(front.behind)) && hasReset && !isIdle
}

/** @return {string[]} what is right on node:http and wrong on the front */
function missedBy (pair) {
  if (!areComparable(...pair)) return []
  const [front, node] = pair.map(run => run.goals(pair.some(({ waits }) => waits), pair.some(({ isLost }) => isLost)))
  return Object.keys(node).filter(what => node[what] && !front[what])
}

async function close (runs) {
  for (let i = 0, idle = 0; i < ROUNDS && idle < 2; i++) {
    const before = runs.map(run => run.progress).join()
    await step(runs, run => run.goOn())
    idle = runs.map(run => run.progress).join() === before ? idle + 1 : 0
  }
}

async function step (runs, perform) {
  const waiting = runs.map(({ handle }) => handle.waiting.length)
  // Not in a microtask: those that an event begins come behind its ticks.
  setImmediate(() => { for (const run of runs) perform(run) })
  await settle(SETTLED + 1)
  for (const [i, { handle }] of runs.entries()) handle.drain(waiting[i])
  await settle(1)
}

/**
 * All paths: of up to so many events as `depths` says for each number of odd steps.
 *
 *    const { failures } = await search(VARIANTS['chunked, TLS'], [8, 6, 4]) // of eight events, of six with an odd step, …
 *
 * @return {{ failures: string[], paths: number, states: number }}
 */
async function search (variant, depths) {
  const seen = new Map() // state → the fewest odd steps that led there
  const levels = Array.from({ length: Math.max(...depths) + 1 }, () => [])
  const failures = new Map()
  let count = 0
  levels[0].push([])

  const fresh = pairs => pairs.filter(([front, node]) => {
    const { path } = front
    const state = JSON.stringify([front.digest(), node.digest()])
    const odd = path.filter(isOdd).length
    if (seen.get(state) <= odd) return false
    seen.set(state, odd)
    const events = countEvents(path)
    for (const step of new Set([front, node].flatMap(run => run.steps(levels.length - events)))) {
      const next = [...path, step]
      if (countEvents(next) <= depths[isOdd(step) ? odd + 1 : odd]) levels[countEvents(next)].push(next)
    }
    return true
  })
  const fail = (what, path) => {
    const paths = failures.get(what) ?? []
    failures.set(what, [...paths, path.join(' ')])
  }

  for (const paths of levels) {
    while (paths.length > 0) {
      const batch = paths.splice(0, BATCH)
      count += batch.length
      const { escaped, closed, missed } = await play(variant, batch, fresh)
      for (const [i, [{ path }]] of closed.entries()) for (const what of missed[i]) fail(`not so: ${what}`, path)
      if (escaped.length === 0) continue
      for (const path of batch) {
        const { escaped: [err] } = await play(variant, [path])
        if (err) fail(err.message, path)
      }
    }
  }
  return {
    failures: [...failures].map(([what, paths]) => `${what}: ${paths.length} paths, the first: ${paths[0]}`),
    paths: count,
    states: seen.size
  }
}

function countEvents (path) {
  return path.reduce((sum, step) => sum + (isJoined(step) ? 2 : 1), 0)
}

module.exports = { VARIANTS, play, search }

async function main () {
  Error.stackTraceLimit = 0
  const value = name => ({ type: 'string', value: name })
  const { values } = commandLine('input.model.js', { depths: value('events'), variant: value('name'), path: value('steps') }, 'test/engines/http1/input.model.js')
  const { depths = '8,6,4', variant, path } = values
  for (const name of variant === undefined ? Object.keys(VARIANTS) : [variant]) {
    const { user } = process.cpuUsage()
    if (path !== undefined) {
      const { missed, closed: [runs] } = await play(VARIANTS[name], [path.split(' ')])
      console.log(name, ...missed, runs.map(run => [run.goals(), run.text]))
      continue
    }
    const { failures, ...counts } = await search(VARIANTS[name], depths.split(',').map(Number))
    console.log(name, counts, `${((process.cpuUsage().user - user) / 1e6).toFixed(1)} s of CPU`)
    for (const failure of failures) console.log(`  ${failure}`)
    if (failures.length > 0) process.exitCode = 1
  }
}

if (require.main === module) main()
