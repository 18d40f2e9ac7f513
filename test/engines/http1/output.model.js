'use strict'

/*
 * A model of what a connection writes, below sockets: plans from fast-check drive `attach(server, host)` through a real
 * net.Socket over a stub handle, so that nothing of the kernel takes part. What must arrive is plain concatenation.
 *
 * A plan is plain data: printed, it is its own reproduction. It mixes the kind of the socket (plain, or TLS, which
 * never writes at once), its high-water mark, how it blocks and drains; reads of 1 to 8 requests, now and then some
 * hundred, cut anywhere; chunked bodies of requests with extensions and trailers, which end before the response or
 * behind it, and which READERS read; responses of WAYS with bodies of TEXTS and BYTES in every encoding, of sizes
 * around LIMITS, ended in any order and at any step; and FAULTS.
 *
 * What must hold, of every plan:
 *
 *   - The bytes are the responses in the order of their requests, each with its header section and its body, and after a
 *     fault a beginning of that.
 *   - What was complete before a fault of the app, or before the FIN of the client, arrives.
 *   - onFinished() is called exactly once: with null if and only if the last byte of that response was flushed.
 *   - A callback of write() or end() is called exactly once.
 *   - Who reads the body of a request gets all of it, and after a fault, or a response that closes, a beginning of that.
 *   - Without a fault nothing is left: every response arrives, and the connection stays open unless a request closes it;
 *     then it is idle, so that app.close() need not wait for it.
 */

const assert = require('node:assert/strict')
const { AssertionError } = assert
const http = require('node:http')
const net = require('node:net')
const { setImmediate: turn } = require('node:timers/promises')
const { inspect } = require('node:util')
const fc = require('fast-check')

const { attach } = require('../../../lib/front')
const { act, fieldsOf, isBelow, isHarmless, samples } = require('./acts')
const { main } = require('./generator')

const MAJOR = Number(process.versions.node.split('.')[0])
const MB = 1024 * 1024

/** Sizes at which something changes: LARGE and JOINED of lib/front, high-water marks. */
const LIMITS = [16 * 1024, 64 * 1024, 32 * 1024, 1000]
const MARKS = [undefined, 1, 1000, 16 * 1024, 64 * 1024, MB]

// ---- bodies

/** What a text repeats. */
const TEXTS = {
  ascii: 'The quick brown fox ',
  latin1: 'é\x80\xff\xa0n',
  utf8: '子ä\u20acq',
  astral: '\u{1f600}-',
  surrogates: 'a\ud83d\udc00\udc00z\ud800',
  lines: '\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
}

/** What bytes repeat. */
const BYTES = {
  ascii: Buffer.from('0123456789abcdef-'),
  utf8: Buffer.from('子'),
  high: Buffer.from([0xff]),
  all: Buffer.from(Array.from({ length: 256 }, (_, i) => (i * 167 + 131) % 256)),
  lineEnd: Buffer.from('\r\n')
}

/** Of a string that is written. */
const ENCODINGS = [undefined, 'utf8', 'latin1', 'hex', 'base64', 'ucs2', 'ascii', 'binary']

function make ({ type, kind, size, encoding }) {
  if (type === 'text') {
    let data = repeat(TEXTS[kind], size)
    if (encoding === 'hex' || encoding === 'base64') data = Buffer.from(data.slice(0, size / 2)).toString(encoding)
    return { data, encoding, bytes: Buffer.from(data, encoding) }
  }
  const bytes = Buffer.alloc(size, BYTES[kind])
  if (type === 'Uint8Array') return { data: new Uint8Array(bytes), bytes }
  if (type === 'Buffer') return { data: bytes, bytes }
  const around = Buffer.alloc(size + 10, 'x') // a view of its middle
  bytes.copy(around, 3)
  return { data: new Uint8Array(around.buffer, around.byteOffset + 3, size), bytes }
}

function repeat (text, size) {
  return text.repeat(Math.ceil(size / text.length)).slice(0, size)
}

const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(LIMITS.length - 1), fc.integer({ min: -1, max: 1 })).map(([i, by]) => LIMITS[i] + by) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 200 }).map(x => Math.floor(2 ** (x / 10))) }
)

const pieces = fc.oneof(
  fc.record({
    type: fc.constant('text'),
    kind: fc.constantFrom(...Object.keys(TEXTS)),
    size: sizes,
    encoding: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom(...ENCODINGS))
  }),
  fc.record({
    type: fc.constantFrom('Buffer', 'Uint8Array', 'view'),
    kind: fc.constantFrom(...Object.keys(BYTES)),
    size: sizes
  })
)

// ---- the bodies of requests

/** Who reads one: calls `take` for each piece, then `end`. */
const READERS = {
  nobody () {},
  async 'readBody()' (incoming, take, end) {
    if (incoming.readBody === undefined) return READERS.stream(incoming, take, end) // node's own request
    try {
      take(await incoming.readBody())
      end()
    } catch (err) {
      assert.equal(err.code, 'KONE_ERR_BODY_ABORTED')
    }
  },
  stream (incoming, take, end) {
    const req = incoming.materialize?.() ?? incoming
    req.on('data', take).on('end', end).on('error', () => {})
  }
}

const uploads = fc.record({
  reader: fc.constantFrom(...Object.keys(READERS)),
  kind: fc.constantFrom(...Object.keys(BYTES)),
  chunks: fc.array(sizes, { maxLength: 4 }),
  extension: fc.constantFrom('', '', ';x', ';x="y"'),
  trailers: fc.constantFrom('', '', 'X-T: t\r\n')
})

/** The bytes of a body, and what its reader gets. */
function upload ({ kind, chunks, extension, trailers }) {
  const all = chunks.map(size => Buffer.alloc(size + 1, BYTES[kind]))
  const framed = all.flatMap(chunk => [Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk, Buffer.from('\r\n')])
  return { expected: Buffer.concat(all), bytes: Buffer.concat([...framed, Buffer.from(`0${extension}\r\n${trailers}\r\n`)]) }
}

// ---- responses

/**
 * How a response is made: lists of acts. The steps of a plan, or handlers of other requests, do one list after the other. The
 * last one ends the response.
 */
const WAYS = {
  /** The front. */
  fast: one => [[...one.header, ['end', one.body]]],
  /** `ctx.res` is read first. */
  read: one => [[['res']], [...one.header, ['end', one.body]]],
  /** And when the response has ended. */
  late: one => [[...one.header, ['end', one.body], ['res']]],
  /** node's own end(). */
  res: one => [[...one.header, ['resEnd', one.pieces[0]]]],
  chunked: one => [one.header, ...one.by('write'), [['resEnd']]],
  'chunked, the last piece in end()': one => [one.header, ...one.by('write', -1), [['resEnd', one.pieces.at(-1)]]],
  'of a known length': one => [[...one.header, one.length()], ...one.by('write'), [['resEnd']]],
  'writeHead()': one => [[['writeHead', one.plan.status, { 'X-Id': String(one.index) }]], ...one.by('write'), [['resEnd']]],
  'flushHeaders()': one => [[...one.header, ['resFlush']], ...one.by('write'), [['resEnd']]],
  corked: one => [[...one.header, ['cork'], ...one.by('write').flat(), ['uncork']], [['resEnd']]],
  'a sink': one => [one.header, ...one.by('sink'), [['endSink']]],
  'a sink, of a known length': one => [[...one.header, one.length('sink')], ...one.by('sink'), [['endSink']]],
  'a sink, ctx.res is read': one => [one.header, ...one.by('sink').flatMap(write => [write, [['res']]]), [['endSink']]],
  'behind 102': one => [[['processing']], one.header, ...one.by('write'), [['resEnd']]],
  'behind 103': one => [[['hints', { link: '</a>; rel=preload' }], ...one.header, ['resEnd', one.pieces[0]]]]
}

/** Acts that leave every response as it is, below Koa's objects. Of writes that are corked node forgets callbacks. */
const TOUCHES = samples(['outgoing', 'response', 'look', 'touch'], ['res.cork']).filter(one => isHarmless(one) && isBelow(one))

/** The lines of the fields that these set. */
const linesOf = touches => touches.flatMap(fieldsOf).map(([name, value]) => `${name}: ${value}\r\n`).join('')

const responses = fc.record({
  method: fc.oneof({ weight: 9, arbitrary: fc.constant('GET') }, fc.constant('HEAD')),
  upload: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, uploads),
  close: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, fc.constant(true)),
  version: fc.oneof({ weight: 4, arbitrary: fc.constant('1.1') }, fc.constant('1.0')),
  status: fc.oneof({ weight: 9, arbitrary: fc.constant(200) }, fc.constantFrom(204, 304, 404)),
  way: fc.oneof({ weight: 6, arbitrary: fc.constant('fast') }, { weight: 10, arbitrary: fc.constantFrom(...Object.keys(WAYS)) }),
  pieces: fc.array(pieces, { maxLength: 4, size: 'max' }),
  touches: fc.array(fc.constantFrom(...TOUCHES), { maxLength: 1 }), // in front of its first action
  calls: fc.boolean(),                      // write() and end() have callbacks
  kicks: fc.array(fc.nat(20), { maxLength: 2 }), // open responses whose next action its handler runs
  now: fc.oneof({ weight: 2, arbitrary: fc.constant(9) }, fc.nat(3)), // how many of its own actions its handler runs
  next: fc.option(fc.nat(20), { freq: 5 })  // the open response whose next action its onFinished() runs
})

// ---- plans

/** What goes wrong. `which` is a request; the faults of the app are those of a handler. */
const FAULTS = {
  'the client resets': { of: 'client', act: run => run.handle.reset() },
  'the client ends': { of: 'fin', act: run => run.handle.end() },
  'the next write fails': { of: 'client', act: run => run.handle.fail() },
  'socket.destroy()': { of: 'app', act: (run, one) => run.socket.destroy() },
  'socket.end()': { of: 'app', act: (run, one) => run.socket.end() },
  'res.destroy()': { of: 'response', act: (run, one) => one.res.destroy() }
}

/** A step of a plan, and how often it is drawn. */
const doing = (weight, name, fields = {}) => ({ weight, arbitrary: fc.record({ do: fc.constant(name), ...fields }) })
const manyOf = (one, minLength, maxLength) => fc.array(one, { minLength, maxLength })

const step = fc.oneof(
  doing(6, 'read', { requests: manyOf(responses, 1, 8), cut: fc.option(fc.nat(10_000), { freq: 2 }) }),
  doing(3, 'rest', { size: fc.nat(3000) }),
  doing(1, 'records', { reads: manyOf(manyOf(responses, 1, 3), 2, 5) }),
  doing(6, 'act', { which: fc.nat(20), times: fc.integer({ min: 1, max: 6 }) }),
  doing(5, 'turn'),
  doing(2, 'tick'),
  doing(2, 'block'),
  doing(3, 'drain', { writes: fc.integer({ min: 1, max: 5 }) }),
  doing(1, 'unblock'),
  doing(1, 'fault', { fault: fc.constantFrom(...Object.keys(FAULTS)), which: fc.nat(20) })
)

const plans = fc.record({
  isTLS: fc.boolean(),
  mark: fc.constantFrom(...MARKS),
  steps: fc.array(step, { minLength: 1, maxLength: 16, size: 'max' }),
  backwards: fc.boolean(),                  // in which order what is still open ends
  many: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.constantFrom(70, 300, 600)) // small requests in the last read
})

// ---- the socket

const EPIPE = -32
const ECANCELED = -125

/** In place of what libuv gives to a socket. It writes at once, or when a plan drains it. */
class Handle {
  constructor (isTLS) {
    this.isTLS = isTLS
    this.isBlocked = false
    this.isFailing = false
    this.isShut = false
    this.hasEnded = false
    this.isClosed = false
    this.reading = false
    this.written = []    // all bytes that were written, in order
    this.taken = 0       // of them, how many the operating system has
    this.size = 0
    this.waiting = []    // writes under way: { req, size }
    this.unread = []     // what the client has sent and the socket has not read
    this.socket = null
    this.bytesRead = this.bytesWritten = 0
  }

  // what node calls

  readStart () {
    this.reading = true
    if (this.unread.length > 0) setImmediate(() => this.read())
    return 0
  }

  readStop () {
    this.reading = false
    return 0
  }

  writeBuffer (req, bytes) { return this.write(req, Buffer.from(bytes)) }
  writeLatin1String (req, text) { return this.write(req, Buffer.from(text, 'latin1')) }
  writeAsciiString (req, text) { return this.write(req, Buffer.from(text, 'ascii')) }
  writeUtf8String (req, text) { return this.write(req, Buffer.from(text)) }
  writeUcs2String (req, text) { return this.write(req, Buffer.from(text, 'ucs2')) }

  writev (req, chunks, areBuffers) {
    if (areBuffers) return this.write(req, Buffer.concat(chunks))
    const parts = []
    for (let i = 0; i < chunks.length; i += 2) {
      parts.push(typeof chunks[i] === 'string' ? Buffer.from(chunks[i], chunks[i + 1]) : chunks[i])
    }
    return this.write(req, Buffer.concat(parts))
  }

  write (req, bytes) {
    assert(!this.isShut, 'bytes are written behind the end')
    if (this.isFailing) return EPIPE
    const isAsync = this.isTLS || this.isBlocked
    if (req === null) req = { writeStatus: null } // Node 26 makes none for a write that was taken at once
    // Up to Node 24 it sets both from its own state.
    else Object.defineProperties(req, { async: { get: () => isAsync, set () {} }, bytes: { get: () => bytes.length, set () {} } })
    this.written.push(bytes)
    this.size += bytes.length
    this.bytesWritten += bytes.length
    if (!isAsync) {
      this.taken += bytes.length
      return 0
    }
    this.waiting.push({ req, size: bytes.length })
    if (!this.isBlocked) setImmediate(() => { if (!this.isBlocked) this.drain(1) })
    return 'writeStatus' in req ? req : 0
  }

  shutdown (req) {
    this.isShut = true
    setImmediate(() => req.oncomplete(0))
    return 0
  }

  close (called) {
    this.isClosed = true
    setImmediate(() => {
      for (const { req } of this.waiting.splice(0)) req.oncomplete(ECANCELED)
      called()
    })
  }

  setNoDelay () {}
  setKeepAlive () {}
  ref () {}
  unref () {}
  hasRef () { return true }
  getAsyncId () { return 0 }
  asyncReset () {}

  // what a plan does

  /** The client takes so many writes. */
  drain (writes) {
    for (; writes > 0 && this.waiting.length > 0 && !this.isClosed; writes--) {
      const { req, size } = this.waiting.shift()
      this.taken += size
      req.oncomplete(0)
    }
  }

  unblock () {
    this.isBlocked = false
    this.drain(Infinity)
  }

  /** The client has sent this. */
  send (bytes) {
    this.unread.push(bytes)
    this.read()
  }

  read () {
    while (this.reading && this.unread.length > 0) this.push(this.unread.shift())
  }

  /** As node does for each read; a TLS socket also gets the records that were decrypted before readStop(). */
  push (bytes) {
    const { socket } = this
    if (socket.destroyed || this.hasEnded) return
    if (socket.push(bytes)) return
    this.reading = false
    if (!socket.destroyed) this.readStop()
  }

  reset () {
    const err = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'read' })
    this.socket.destroy(err)
  }

  end () {
    const { socket } = this
    if (socket.destroyed || this.hasEnded) return
    this.hasEnded = true // what it has sent and the server does not read is lost
    socket.push(null)
    socket.read(0)
  }

  fail () {
    this.isFailing = true
    for (const { req } of this.waiting.splice(0)) req.oncomplete(EPIPE)
  }
}

// ---- engines

const kRun = Symbol('run')

/** Of a server: what lib/engines/drain.js asks for the connections that are idle. */
const kFront = Symbol.for('kone.front')

/** One server for all plans; the socket knows which one runs. */
const ENGINES = {
  front () {
    const listener = () => assert.fail('node:http has the request')
    const dispatch = (incoming, outgoing) => incoming.socket[kRun].handled(incoming, outgoing)
    const server = http.createServer(listener)
    const ignore = () => {}
    assert(attach(server, { listener, dispatch, failed: ignore, fellBack: ignore, handedOver: ignore, reason: () => '' }))
    return server
  },

  /** The model holds for node:http, too, which makes sure that it asks for nothing that node does not do. */
  'node:http' () {
    const server = http.createServer((req, res) => {
      req.socket[kRun].handled(req, Object.assign(res, { materialize: () => res, sink: () => res }))
    })
    return server
  }
}

const servers = new Map()

function serverOf (engine) {
  if (!servers.has(engine)) servers.set(engine, ENGINES[engine]())
  return servers.get(engine)
}

// ---- one response of a run

const OF_BODY = ['end', 'write', 'resEnd', 'sink', 'endSink']

class One {
  constructor (run, index, plan) {
    this.run = run
    this.index = index
    this.plan = plan
    this.pieces = plan.pieces.map(make)
    this.outgoing = null
    this.upload = plan.upload ? { ...upload(plan.upload), received: [], hasEnded: false } : null
    this.early1xx = []    // expected in front of the header section
    this.expected = []    // of its body
    this.ended = false
    this.destroyed = false
    this.finished = []    // { err, taken } of each call of onFinished()
    this.callbacks = 0    // given
    this.owed = 0         //   of them, how many must be called
    this.called = 0
    this.header = [['statusCode', plan.status], ['setHeader', 'X-Id', String(index)]]
    this.actions = WAYS[plan.way](this)
    this.actions[0] = [...plan.touches, ...this.actions[0]]
    this.isRunning = false
  }

  /** The body of one piece. */
  get body () { return this.pieces[0] }

  get hasBody () { return this.plan.method !== 'HEAD' && this.plan.status !== 204 && this.plan.status !== 304 }

  get isOpen () { return this.outgoing !== null && this.actions.length > 0 }

  get res () {
    const res = this.outgoing.materialize()
    if (res.listenerCount('error') === 0) res.on('error', () => {}) // of a write behind a fault
    return res
  }

  act () {
    if (this.isRunning || this.destroyed) return
    this.isRunning = true
    for (const one of this.actions.shift()) this.perform(one)
    this.isRunning = false
  }

  /** Writes down what must arrive of it. */
  perform ([name, ...args]) {
    if (name === 'hints' || name === 'processing') {
      // Node puts one of a queued response into its body.
      if (this.outgoing.socket === null) return
      this.early1xx.push(name === 'hints' ? 103 : 102)
    }
    if (!OF_BODY.includes(name)) return act(this, [name, ...args])
    const [piece] = args
    const isNodes = name === 'write' || name === 'resEnd' // the front and its sink get no encoding
    if (piece !== undefined) this.expected.push(isNodes ? piece.bytes : Buffer.from(piece.data))
    this.ended ||= name !== 'write' && name !== 'sink'
    act(this, [name, piece?.data, ...isNodes ? [piece?.encoding, ...this.callback()] : []])
  }

  /** Its handler begins to read the body of its request. */
  read (incoming) {
    const { upload } = this
    if (upload !== null) {
      READERS[this.plan.upload.reader](incoming, chunk => upload.received.push(chunk), () => { upload.hasEnded = true })
    }
  }

  length (by = 'write') {
    const size = this.pieces.reduce((sum, { data, bytes }) => sum + (by === 'sink' ? Buffer.from(data) : bytes).length, 0)
    return ['setHeader', 'Content-Length', size]
  }

  /** Its pieces, up to `last`, in lists of their own. */
  by (name, last) { return this.pieces.slice(0, last).map(piece => [[name, piece]]) }

  callback () {
    if (!this.plan.calls) return []
    this.callbacks++
    // Node forgets those that are written behind the socket's end, or whose response never gets the socket.
    // Node 22 and 24 call only the first of those of corked writes that fail.
    const isForgotten = this.plan.way === 'corked' && MAJOR >= 22 && MAJOR < 26
    if (this.run.socket.writable && this.outgoing.socket !== null && !isForgotten) this.owed++
    return [() => { this.called++ }]
  }

  finish (err) {
    this.finished.push({ err, taken: this.run.handle.taken })
    if (this.plan.next !== null) this.run.act({ which: this.plan.next, times: 1 })
  }
}

// ---- a run

class Run {
  constructor (engine, plan, Stub) {
    this.engine = engine
    this.plan = plan
    this.unsent = Buffer.alloc(0) // of the last read
    this.all = []         // responses, in the order of their requests
    this.isLast = false   // a request said close
    this.failed = null    // the first fault
    this.handle = new Stub(plan.isTLS)
    this.settled = { taken: 0, complete: 0 } // when a turn ended with nothing under way
    const options = plan.mark === undefined ? {} : { writableHighWaterMark: plan.mark, readableHighWaterMark: plan.mark }
    const server = serverOf(engine)
    // As net.Server does it.
    const socket = this.socket = new net.Socket({ handle: this.handle, allowHalfOpen: true, ...options })
    this.handle.socket = socket
    socket[kRun] = this
    socket.server = socket._server = server
    server._connections = 2 // never 0, because 'close' follows
    if (plan.isTLS) socket.encrypted = true
    server.emit('connection', socket)
  }

  handled (incoming, outgoing) {
    const index = Number(incoming.url.slice(1))
    const one = this.all[index]
    assert.equal(one.outgoing, null, `request ${index} is dispatched twice`)
    const first = this.all.findIndex(({ outgoing }) => outgoing === null)
    assert.equal(first, index, `request ${index} is dispatched before ${first}`)
    one.outgoing = outgoing
    outgoing.onFinished?.(err => one.finish(err))
    one.read(incoming)
    for (const which of one.plan.kicks) this.act({ which, times: 1 })
    for (let i = 0; i < one.plan.now && one.isOpen; i++) one.act()
  }

  /** The bytes of these requests; none if none may follow. */
  request (plans) {
    const sent = []
    for (const plan of plans) {
      if (this.isLast) break
      const one = new One(this, this.all.length, plan)
      const upload = plan.upload ? 'Transfer-Encoding: chunked\r\n' : ''
      sent.push(Buffer.from(`${plan.method} /${one.index} ${VERSIONS[plan.version][Number(plan.close)]}${upload}\r\n`))
      if (one.upload !== null) sent.push(one.upload.bytes)
      this.all.push(one)
      this.isLast = plan.close
    }
    return Buffer.concat(sent)
  }

  get open () { return this.all.filter(one => one.isOpen && !one.destroyed) }

  step (one) {
    return this[one.do](one)
  }

  read ({ requests, cut = null }) {
    this.rest()
    this.unsent = this.request(requests)
    this.rest({ size: cut === null ? Infinity : cut % this.unsent.length })
  }

  /** The client sends more of the last read. */
  rest ({ size = Infinity } = {}) {
    const bytes = this.unsent.subarray(0, size)
    this.unsent = this.unsent.subarray(bytes.length)
    if (bytes.length > 0) this.handle.send(bytes)
  }

  /** Of one TCP read: the socket gets all of them, whatever it returns. */
  records ({ reads }) {
    this.rest()
    for (const requests of reads) {
      const bytes = this.request(requests)
      if (bytes.length === 0) break
      if (this.plan.isTLS && this.handle.unread.length === 0) this.handle.push(bytes)
      else this.handle.send(bytes)
    }
  }

  act ({ which, times }) {
    for (let i = 0; i < times; i++) {
      const { open } = this
      if (open.length === 0) return
      open[which % open.length].act()
    }
  }

  tick () { return new Promise(resolve => process.nextTick(resolve)) }
  block () { this.handle.isBlocked = true }
  unblock () { this.handle.unblock() }
  drain ({ writes }) { this.handle.drain(writes) }

  async turn () {
    await turn()
    const { taken, waiting } = this.handle
    if (waiting.length === 0) this.settled = { taken, complete: this.complete() }
  }

  fault ({ fault: name, which }) {
    if (this.failed !== null || this.socket.destroyed || this.handle.isShut) return
    const { of, act } = FAULTS[name]
    const begun = this.all.filter(({ outgoing }) => outgoing !== null)
    const isResponse = of === 'response'
    const open = isResponse ? this.open : begun
    if (open.length === 0 && of !== 'client' && of !== 'fin') return
    const one = open[which % open.length]
    if (isResponse) one.destroyed = true
    const { isBlocked, isTLS, waiting } = this.handle
    const { writableCorked } = this.socket
    this.failed = {
      name,
      of,
      index: isResponse ? one.index : Infinity,
      // Node's next response begins a tick after the one before.
      complete: this.engine === 'front' ? this.complete() : this.settled.complete,
      // Otherwise the socket still has bytes, and node's next response begins when it has none. Node corks it for a tick.
      isFree: !isBlocked && waiting.length === 0 && writableCorked === 0 && (!isTLS || of === 'fin'),
      settled: this.settled
    }
    act(this, one)
  }

  /** How many responses are complete, and all before them. */
  complete () {
    const first = this.all.findIndex(({ ended }) => !ended)
    return first === -1 ? this.all.length : first
  }

  async finish () {
    const { handle, plan } = this
    this.rest()
    if (plan.many > 0) await this.step({ do: 'read', requests: Array(plan.many).fill(SMALL) })
    for (let round = 0, idle = 0; idle < 3; round++) {
      assert(round < 2000, 'it never ends')
      handle.unblock()
      const before = this.progress()
      const { open } = this
      for (const one of plan.backwards ? open.reverse() : open) while (one.isOpen && !one.destroyed && !one.isRunning) one.act()
      await this.turn()
      idle = this.progress() === before ? idle + 1 : 0
    }
    this.wasOpen = !this.socket.destroyed && !handle.isShut
    this.wasIdle = serverOf(this.engine)[kFront]?.silentSockets().has(this.socket)
    this.before = this.all.map(({ finished }) => finished.length)
    if (!this.socket.destroyed) handle.reset()
    for (let i = 0; i < 4; i++) await turn()
  }

  progress () {
    return this.handle.size + this.handle.taken + this.handle.unread.length + this.all.reduce((sum, one) => {
      const read = one.upload?.received.length ?? 0
      return sum + one.actions.length + read + one.finished.length + one.called + (one.outgoing === null ? 0 : 1)
    }, 0)
  }
}

const SMALL = {
  method: 'GET',
  upload: null,
  close: false,
  version: '1.1',
  status: 200,
  way: 'fast',
  pieces: [{ type: 'text', kind: 'ascii', size: 5 }],
  touches: [],
  calls: false,
  kicks: [],
  now: 1,
  next: null
}

// ---- the oracle

/** Reads the bytes of a client, one response after the other. */
class Bytes {
  constructor (bytes) {
    this.bytes = bytes
    this.at = 0
  }

  get rest () { return this.bytes.length - this.at }

  /** @return {boolean} false if the bytes end before */
  expect (expected, what) {
    const found = this.bytes.subarray(this.at, this.at + expected.length)
    const { length } = found
    if (!found.equals(length === expected.length ? expected : expected.subarray(0, length))) {
      let i = 0
      while (found[i] === expected[i]) i++
      const show = bytes => inspect(bytes.toString('latin1', Math.max(0, i - 20), i + 40))
      throw new AssertionError({ message: `${what}: wrong byte ${i} of ${expected.length}: ${show(found)} in place of ${show(expected)}` })
    }
    this.at += length
    return length === expected.length
  }

  /** The text up to `end`, or null if the bytes end before. */
  until (end) {
    const to = this.bytes.indexOf(end, this.at)
    if (to === -1) {
      this.at = this.bytes.length
      return null
    }
    const text = this.bytes.latin1Slice(this.at, to)
    this.at = to + end.length
    return text
  }

  show () {
    return inspect(this.bytes.toString('latin1', this.at, this.at + 80))
  }
}

/** What a request says that is kept, and one that closes: that of HTTP/1.0 has no length then, and no chunks. */
const VERSIONS = {
  1.1: ['HTTP/1.1\r\nHost: a\r\n', 'HTTP/1.1\r\nHost: a\r\nConnection: close\r\n'],
  '1.0': ['HTTP/1.0\r\nConnection: keep-alive\r\nTE: chunked\r\n', 'HTTP/1.0\r\n']
}

const NAMES = { 200: 'OK', 204: 'No Content', 304: 'Not Modified', 404: 'Not Found' }

/** @return {boolean} whether the response is whole */
function readResponse (bytes, one) {
  const what = `response ${one.index}`
  for (const status of one.early1xx) {
    const line = status === 102 ? 'HTTP/1.1 102 Processing\r\n\r\n' : 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'
    if (!bytes.expect(Buffer.from(line), `${what}, ${status}`)) return false
  }
  const { status, touches } = one.plan
  if (!bytes.expect(Buffer.from(`HTTP/1.1 ${status} ${NAMES[status]}\r\n${linesOf(touches)}X-Id: ${one.index}\r\n`), `${what}, header section`)) return false
  const text = bytes.until('\r\n\r\n')
  if (text === null) return false
  const headers = readHeaders(text, what)
  assert.equal(headers.connection, one.plan.close ? 'close' : headers.connection ?? 'keep-alive', `${what}: Connection`)
  const body = Buffer.concat(one.expected)
  if ('content-length' in headers && one.ended) assert.equal(headers['content-length'], String(body.length), `${what}: Content-Length`)
  if (!one.hasBody) return true
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes, body, what, one.ended)
  assert('content-length' in headers || one.plan.close, `${what} has no length`)
  return bytes.expect(body, what) && one.ended
}

const HEADERS = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']

function readHeaders (text, what) {
  const headers = { __proto__: null }
  for (const line of text.split('\r\n')) {
    const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? assert.fail(`${what}: no header: ${inspect(line)}`)
    const key = name.toLowerCase()
    assert(HEADERS.includes(key) && !(key in headers), `${what}: ${line}`)
    headers[key] = value
  }
  assert('date' in headers, `${what} has no Date`)
  return headers
}

function readChunks (bytes, body, what, ended) {
  for (let at = 0; ;) {
    const line = bytes.until('\r\n')
    if (line === null) return false
    assert.match(line, /^[\da-f]+$/, `${what}: size of a chunk`)
    const size = parseInt(line, 16)
    if (size === 0) {
      assert(ended && at === body.length, `${what} ends after ${at} of ${body.length} bytes`)
      return bytes.expect(Buffer.from('\r\n'), what)
    }
    assert(at + size <= body.length, `${what}: a chunk of ${size} bytes at ${at} of ${body.length}`)
    if (!bytes.expect(body.subarray(at, at + size), what) || !bytes.expect(Buffer.from('\r\n'), what)) return false
    at += size
  }
}

/** What must hold after a run. */
function judge (run) {
  const { all, failed: fault, handle } = run
  const bytes = new Bytes(Buffer.concat(handle.written))
  const ends = []
  let whole = 0
  for (; whole < all.length && bytes.rest > 0; whole++) {
    if (isRefusal(bytes, fault) || !readResponse(bytes, all[whole])) break
    ends.push(bytes.at)
    if (all[whole].plan.close) {
      whole++
      break
    }
  }
  assert(bytes.rest === 0 || isRefusal(bytes, fault), `bytes behind the last response: ${bytes.show()}`)

  if (fault === null) {
    assert.equal(whole, all.length, `${whole} of ${all.length} responses are whole`)
    assert.equal(run.wasOpen, !run.isLast, run.isLast ? 'the connection stays open' : 'the connection is closed')
    if (run.engine === 'front' && run.wasOpen) assert(run.wasIdle, 'app.close() would wait for the connection')
    assert.deepEqual(run.before, all.map(() => run.engine === 'front' ? 1 : 0), 'calls of onFinished() before the end')
  } else if (fault.of === 'response') {
    const until = Math.min(fault.index, all.length)
    const what = fault.isFree ? 'the one that fails' : 'one that fails while bytes are under way'
    assert(whole >= until, `${whole} responses arrive, of ${until} before ${what}`)
  } else if (fault.of === 'app' || fault.of === 'fin') {
    if (fault.isFree) {
      assert(whole >= fault.complete, `${whole} of ${fault.complete} responses arrive that were complete before ${fault.name}`)
    }
  }

  for (const one of all) {
    // Node 26 forgets what it has merged when the socket ends in the same tick.
    const isMerged = run.engine === 'node:http' || MAJOR >= 26
    const owed = !isMerged || fault === null || fault.of === 'client' ? one.owed : 0
    assert(one.called >= owed && one.called <= one.callbacks,
      `response ${one.index}: ${one.called} of ${owed} callbacks are called`)
    if (run.engine === 'front' && one.outgoing !== null) judgeFinished(one, ends[one.index], fault)
    if (one.upload !== null && one.plan.upload.reader !== 'nobody') judgeUpload(one, fault)
  }
}

function judgeFinished ({ index, finished }, end, fault) {
  assert.equal(finished.length, 1, `response ${index}: onFinished() is called ${finished.length} times`)
  const [{ err, taken }] = finished
  if (err === null || err === undefined) {
    assert.equal(err, null)
    assert(end !== undefined && taken >= end, `response ${index} is reported as sent with ${taken} bytes taken, it ends at ${end}`)
  } else {
    assert.equal(err.code, 'KONE_ERR_RESPONSE_LOST', `response ${index}`)
    assert(fault === null || end === undefined || end > fault.settled.taken || index >= fault.settled.complete,
      `response ${index} is reported as lost, and was taken before the fault`)
  }
}

function judgeUpload ({ index, plan, upload: { expected, received, hasEnded } }, fault) {
  const got = Buffer.concat(received)
  assert(got.equals(expected.subarray(0, got.length)), `request ${index}: wrong bytes in its body`)
  const many = `${got.length} of ${expected.length} bytes`
  assert(got.length === expected.length || !hasEnded, `request ${index}: its body ends after ${many}`)
  assert(hasEnded || fault !== null || plan.close, `request ${index}: ${many} arrive, and no end`)
}

/** The 400 of a connection that failed. */
function isRefusal (bytes, fault) {
  return fault !== null && /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/.test(bytes.bytes.toString('latin1', bytes.at))
}

/**
 * Run one plan.
 *
 *    await play('front', plan) // throws an AssertionError
 */
async function play (engine, plan, Stub = Handle) {
  const escaped = []
  process.setUncaughtExceptionCaptureCallback(null)
  process.setUncaughtExceptionCaptureCallback(err => escaped.push(err)) // before the test runner's listener
  const run = new Run(engine, plan, Stub)
  try {
    for (const one of plan.steps) await run.step(one)
    await run.finish()
  } finally {
    run.socket.destroy()
    await turn() // what is thrown in its ticks belongs to this plan
    process.setUncaughtExceptionCaptureCallback(null)
  }
  if (escaped.length > 0) throw escaped[0]
  judge(run)
}

/** What node:http itself breaks. */
const NODES = ['caused by either a bug in Node.js'] // Node 26, when a read follows the reset in its tick

/**
 * Random plans, for generator.js.
 *
 *    const { failures } = await run(model(), { seed: 1, seconds: 2 })
 */
function model ({ engine = 'front', Stub } = {}) {
  async function judgeOne (plan) {
    try {
      await play(engine, plan, Stub)
    } catch (err) {
      const isNodes = engine === 'node:http' && NODES.some(text => err.message.includes(text))
      if (!isNodes) return [{ side: engine, what: 'the plan does not hold', detail: err.stack.split('\n').slice(0, 8).join('\n') }]
    }
    return []
  }
  return {
    generate: seed => fc.sample(seed % 3 === 0 ? plans : fc.noBias(plans), { seed, numRuns: 1 })[0], // a third of edge cases
    lanes: [judgeOne],
    RULES,
    names: [...Object.keys(WAYS), ...TOUCHES.map(([name]) => name)],
    namesOf: ({ steps }) => steps.flatMap(({ requests = [], reads = [] }) => [...requests, ...reads.flat()])
      .flatMap(({ way, touches }) => [way, ...touches.map(([name]) => name)]),
    casesOf
  }
}

/** What the shrinker may change. */
const RULES = {
  lists: ['steps', 'requests', 'reads', 'pieces', 'touches', 'kicks', 'chunks'],
  usual: {
    ...SMALL, pieces: [], isTLS: false, mark: 1000, backwards: false, many: 0, cut: null, size: 1, encoding: 'utf8', times: 1, writes: 1
  }
}

function * casesOf (pairs) {
  for (const names of pairs.left()) {
    const touchesOf = name => TOUCHES.filter(one => one[0] === name).slice(0, 1)
    const requests = names.map(name => ({ ...SMALL, way: name in WAYS ? name : 'fast', touches: touchesOf(name) }))
    yield [names.join(' and '), { isTLS: false, steps: [{ do: 'read', requests }], backwards: false, many: 0 }]
  }
}

module.exports = { Handle, MARKS, SMALL, model, play }

if (require.main === module) main(__filename, ({ engine }) => model({ engine }), { engine: { type: 'string', value: 'engine' } })
