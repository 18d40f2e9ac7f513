'use strict'

/*
 * The differential harness: the same bytes to two servers, everything either side saw written down, then compared.
 *
 * An *exchange* is one connection that walks through a list of steps:
 *
 *   { send: Buffer }    bytes that reach the server as one read
 *   { release: true }   handlers that wait in `exchange.held()` go on
 *   { free: true }      they go on, and from now on none waits
 *   { end: true }       the client half-closes
 *   { reset: true }     the client is gone (RST; a Duplex is destroyed)
 *   { touch: name }     other code does something to the server's socket, see TOUCHES
 *   { close: true }     server.close(); the server listens again when the exchange is over
 *
 * A socket comes to the server as its *transport* says: see `exchange`.
 *
 * A *record* has one entry per step: what the app saw (requests, log, events, errors, finished), what the client got
 * (bytes), in which state the server left the socket. "Who closes when" is so a matter of order and never of time. Client
 * and server live in one process: a step is over when nothing moved for a few turns of the event loop. Its `ends`: how
 * often each request was reported as flushed or lost by the end of the connection. Its `maxHeaderSize`: of the server.
 */

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { Duplex } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const { setUp } = require('./sides')

// Turns of the event loop without a sign of life that end a step. One is enough to see that bytes of a half-sent head
// led to nothing; a response on its way (app, server socket, kernel, client socket) may need more.
const QUIET = 4

// Turns that a read may take to arrive: more than it needs, for a server that stopped reading takes none.
const PATIENCE = 20

// Differences that are shown, and characters of each side.
const MOST_SHOWN = 6
const SHOWN = 600

const DATE = /^date: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r$/gim

/**
 * Start a server and keep what belongs to it.
 *
 *    const front = await open('front', app => app.listen(0), define)
 */
async function open (name, listen, define, properties = {}) {
  const app = define()
  app.silent = true
  app.on('error', (err, ctx) => exchangeOf(ctx)?.error(ctx, err))
  app.on('finish', ctx => exchangeOf(ctx)?.finish(ctx))

  const server = listen(app)
  Object.assign(server, properties)
  const side = { name, app, server, accepted: new Map(), doors: new Map(), past: new Set(), close: () => close(side) }
  // Appended, never prepended: in front of kone's own listener it would switch the front off.
  const isSecure = server instanceof https.Server
  server.on(isSecure ? 'secureConnection' : 'connection', socket => side.accepted.set(socket.remotePort, socket))
  if (!server.listening) await once(server, 'listening')
  return side
}

/** node:http: the side that is right by definition. */
const callback = app => setUp(http.createServer(), app, false).listen(0, '127.0.0.1')

/** `app.listen()`: the side that is tested. */
const front = app => app.listen(0, '127.0.0.1')

function close ({ server, doors }) {
  server.closeAllConnections()
  for (const door of doors.values()) door.close()
  return new Promise(resolve => server.close(resolve))
}

const TOUCHED = Buffer.from('GET /touched HTTP/1.1\r\nHost: a\r\n\r\n')

/** What other code does to a socket of the server. */
const TOUCHES = {
  setTimeout: socket => socket.setTimeout?.(60_000, () => {}),
  data: (socket, it) => socket.on('data', it.listener()),
  pause: socket => socket.pause(),
  resume: socket => socket.resume(),
  'pause and resume': socket => {
    socket.pause()
    process.nextTick(() => socket.resume())
  },
  unshift: socket => { if (!socket.destroyed && !socket.readableEnded) socket.unshift(TOUCHED) },
  end: socket => socket.end(),
  destroySoon: socket => socket.destroySoon?.(),
  destroy: socket => socket.destroy(),
  'a listener that throws': socket => socket.once('close', () => { throw new Error('thrown by the fuzzer') })
}

/** What the one who accepts a socket does before the server gets it. */
const ARRIVALS = {
  emitted: (socket, give) => give(),
  unix: (socket, give) => give(),
  paused: (socket, give) => {
    give()
    socket.resume()
  },
  'put back before': (socket, give) => socket.once('data', chunk => {
    socket.pause()
    socket.unshift(chunk)
    give()
    process.nextTick(() => socket.resume())
  }),
  'put back after': (socket, give) => socket.once('data', chunk => {
    socket.pause()
    give()
    socket.unshift(chunk)
    process.nextTick(() => socket.resume())
  }),
  sniffed: (socket, give) => socket.once('readable', () => {
    const chunk = socket.read()
    if (chunk !== null) socket.unshift(chunk)
    give()
  }),
  // As @socket.io/sticky does.
  'read by another': (socket, give) => socket.once('data', chunk => {
    give()
    socket.emit('data', chunk)
    socket.resume()
  })
}

/** Of each connection that came through a door. */
const store = new AsyncLocalStorage()

/** A server whose sockets another one gets, each in an async context of its own. */
async function openDoor (side, transport) {
  const door = net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: transport === 'paused' })
  door.on('connection', socket => {
    socket.on('error', () => {})
    ARRIVALS[transport](socket, () => {
      if (!socket.destroyed) store.run({ socket }, () => side.server.emit('connection', socket))
    })
  })
  const file = path.join(os.tmpdir(), `kone-${process.pid}-${doors++}.sock`)
  if (transport === 'unix') {
    door.listen(file)
    door.once('close', () => fs.rmSync(file, { force: true }))
  } else {
    door.listen(0, '127.0.0.1')
  }
  await once(door, 'listening')
  side.doors.set(transport, door)
}

let doors = 0

const exchanges = new WeakMap()

/** The exchange that a ctx belongs to; undefined for connections the harness did not make. */
const exchangeOf = ctx => ctx?.socket && exchanges.get(ctx.socket)

class Exchange {
  constructor (socket) {
    this.socket = socket
    this.moves = 0 // grows with everything that happens
    this.count = 0 // requests dispatched
    this.numbers = new Map() // ctx → which request it is
    this.ends = []    // how often each was reported as flushed or lost
    this.listeners = 0 // for 'data', that other code has added to the socket
    this.holding = []
    this.left = []   // ctx whose responses others end
    this.isFree = false
    this.step = null
    exchanges.set(socket, this)
  }

  begin () {
    this.step = { requests: [], log: {}, events: {}, errors: {}, finished: [], touched: {}, got: '', socket: 'open' }
    return this.step
  }

  /** A request reached the app. */
  request (ctx, seen) {
    this.moves++
    if (this.isThroughDoor) seen.isOwnStore = store.getStore()?.socket === this.socket
    this.numbers.set(ctx, ++this.count)
    this.ends.push(0)
    this.step.requests.push(seen)
    return this.count
  }

  /** Anything else the app noticed of this request. */
  note (ctx, what) {
    this.moves++
    this.add(this.step.log, ctx, what)
  }

  /** An event of node's objects. */
  event (ctx, what) {
    this.moves++
    this.add(this.step.events, ctx, what)
  }

  error (ctx, err) {
    this.moves++
    this.add(this.step.errors, ctx, err.code ?? err.message)
  }

  add (list, ctx, what) {
    const number = this.numbers.get(ctx) ?? 0
    list[number] ??= []
    list[number].push(what)
  }

  finish (ctx) {
    this.moves++
    const number = this.numbers.get(ctx)
    if (number !== undefined) this.ends[number - 1]++
    this.step.finished.push(this.numbers.get(ctx) ?? 0)
  }

  /** A listener for 'data' that other code adds to the socket. */
  listener () {
    const number = this.listeners++
    return chunk => {
      this.moves++
      this.step.touched[number] = (this.step.touched[number] ?? '') + chunk.toString('latin1')
    }
  }

  got (chunk) {
    this.moves++
    this.step.got += chunk.toString('latin1')
  }

  /** A promise that the next step `release` or `free` resolves. */
  held () {
    if (this.isFree) return Promise.resolve()
    return new Promise(resolve => this.holding.push(resolve))
  }

  /** The handler of another request, or the step `free`, ends the response of this one. */
  leave (ctx) {
    this.left.push(ctx)
    if (this.isFree) this.endAnother('at last')
  }

  endAnother (text) {
    this.left.shift()?.response.outgoing.end(text)
  }

  release () {
    for (const resolve of this.holding.splice(0)) resolve()
  }

  free () {
    this.isFree = true
    while (this.left.length > 0) this.endAnother('at last')
    this.release()
  }
}

/**
 * Walk through `steps` on a connection of their own, which `transport` makes: 'socket', 'records' (several TLS records in
 * one TCP write), 'duplex', or one of ARRIVALS. `app` is for the handlers.
 */
async function exchange (side, steps, { transport = 'socket', app } = {}) {
  const isThroughDoor = transport in ARRIVALS
  const wire = transport === 'duplex' ? attach(side) : isThroughDoor ? await enter(side, transport) : await connect(side, transport)
  const it = new Exchange(wire.peer)
  it.isThroughDoor = isThroughDoor
  it.app = app
  wire.client.on('data', chunk => it.got(chunk))

  const record = []
  let closed = null
  for (const step of steps) {
    const entry = it.begin()
    const moves = it.moves
    record.push(entry)
    if (step.send) await wire.send(step.send)
    else if (step.release) it.release()
    else if (step.free) it.free()
    else if (step.touch) TOUCHES[step.touch](wire.peer, it)
    else if (step.close) closed ??= new Promise(resolve => side.server.close(resolve))
    else if (step.end) wire.client.end()
    else if (step.reset) wire.reset()
    await settle(it, wire, step, moves)
    entry.socket = stateOf(wire.peer)
    // `socket.parser` is node's own mark: its connection listener has this socket, or had it.
    entry.node = 'parser' in wire.peer
    entry.count = it.count
  }
  it.begin()
  wire.reset()
  it.free()
  side.accepted.delete(wire.port)
  if (isThroughDoor) wire.peer.destroy()
  await reported(it)
  if (it.ends.includes(0)) wire.peer.destroy() // one that is paused does not notice that its client is gone
  await reported(it)
  side.past.add(wire.peer)
  wire.peer.once('close', () => side.past.delete(wire.peer))
  if (closed !== null) {
    for (const peer of side.past) peer.destroy()
    await closed
    await once(side.server.listen(0, '127.0.0.1'), 'listening')
  }
  record.ends = it.ends
  record.maxHeaderSize = side.server.maxHeaderSize || http.maxHeaderSize
  return record
}

/** The connection is gone: every request was flushed, or is lost. */
async function reported (it) {
  for (let i = 0; i < PATIENCE && it.ends.includes(0); i++) await turn()
}

function stateOf (socket) {
  if (socket.destroyed) return 'destroyed'
  return socket.writableEnded ? 'ended' : 'open'
}

async function settle (it, wire, step, moves) {
  let before = wire.progress()
  let needed = step.send ? 1 : QUIET
  let quiet = 0
  while (quiet < needed) {
    await turn()
    const now = wire.progress()
    const still = now === before && it.moves === moves
    if (it.moves !== moves || wire.written() || wire.peer.destroyed) needed = QUIET
    quiet = still ? quiet + 1 : 0
    before = now
    moves = it.moves
  }
}

/** A connection over loopback. */
async function connect (side, transport) {
  const isSecure = side.server instanceof https.Server
  const { port: to } = side.server.address()
  const options = { port: to, host: '127.0.0.1', allowHalfOpen: true, rejectUnauthorized: false }
  const below = transport === 'records' ? new Below(net.connect({ ...options, noDelay: true })) : undefined
  const client = isSecure ? tls.connect(below === undefined ? options : { ...options, socket: below }) : net.connect(options)
  client.on('error', () => {})
  await once(client, isSecure ? 'secureConnect' : 'connect')
  if (below === undefined) client.setNoDelay(true) // tls.connect() does not know the option
  const port = (below?.socket ?? client).localPort
  while (!side.accepted.has(port)) await turn()
  const wire = loopback(client, side.accepted.get(port), isSecure)
  if (below !== undefined) wire.send = chunk => below.send(client, chunk)
  return Object.assign(wire, { port })
}

/** A connection that another server accepts. */
async function enter (side, transport) {
  if (!side.doors.has(transport)) await openDoor(side, transport)
  const door = side.doors.get(transport)
  const accepted = once(door, 'connection')
  const address = door.address()
  const to = typeof address === 'string' ? { path: address } : { port: address.port, host: '127.0.0.1' }
  const client = net.connect({ ...to, allowHalfOpen: true })
  client.on('error', () => {})
  await once(client, 'connect')
  client.setNoDelay(true)
  const [peer] = await accepted
  return loopback(client, peer, false)
}

function loopback (client, peer, isSecure) {
  let out = peer.bytesWritten
  return {
    client,
    peer,
    async send (chunk) {
      if (client.destroyed || client.writableEnded) return
      const read = peer.bytesRead
      client.write(chunk)
      // Two writes may arrive as one read: wait until this one was taken, unless the server stopped reading. Over TLS
      // every write is a record, and every record a read.
      for (let i = 0; i < PATIENCE && peer.bytesRead < read + chunk.length && !peer.destroyed; i++) await turn()
    },
    reset: () => isSecure || peer.remotePort === undefined ? client.destroy() : client.resetAndDestroy(),
    progress: () => peer.bytesRead + peer.bytesWritten + client.bytesRead + (client.readableEnded ? 0.5 : 0),
    written () {
      const more = peer.bytesWritten !== out
      out = peer.bytesWritten
      return more
    }
  }
}

/** Below a TLS client: what is encrypted while it holds goes out in one TCP write. */
class Below extends Duplex {
  constructor (socket) {
    super({ allowHalfOpen: true })
    this.socket = socket
    this.held = null
    socket.on('data', chunk => this.push(chunk)).on('end', () => this.push(null)).on('error', err => this.destroy(err))
    socket.on('close', () => this.destroy())
  }

  _read () {}

  _write (chunk, encoding, callback) {
    if (this.held === null) this.socket.write(chunk)
    else this.held.push(chunk)
    callback()
  }

  _final (callback) {
    this.socket.end()
    callback()
  }

  _destroy (err, callback) {
    this.socket.destroy()
    callback(err)
  }

  /** Three records in one write. */
  async send (client, chunk) {
    if (client.destroyed || client.writableEnded) return
    this.held = []
    const third = Math.ceil(chunk.length / 3)
    for (let at = 0; at < chunk.length; at += third) {
      await new Promise(resolve => client.write(chunk.subarray(at, at + third), resolve))
    }
    this.socket.write(Buffer.concat(this.held))
    this.held = null
    for (let i = 0; i < QUIET; i++) await turn()
  }
}

/** A connection in memory, as `server.emit('connection', duplex)` makes it: no handle, every byte by 'data'. */
function attach (side) {
  const [client, peer] = duplexPair()
  client.on('error', () => {})
  side.server.emit('connection', peer)
  return {
    client,
    peer,
    async send (chunk) {
      if (client.destroyed || client.writableEnded) return
      client.write(chunk)
    },
    reset () {
      client.destroy()
      peer.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
    },
    progress: () => client.moved + peer.moved,
    written: () => true
  }
}

class Side extends Duplex {
  moved = 0

  _read () {
    const taken = this.taken
    this.taken = null
    taken?.()
  }

  _write (chunk, encoding, callback) {
    this.moved++
    if (this.other.push(chunk)) callback()
    else this.other.taken = callback
  }

  _final (callback) {
    this.moved++
    this.other.push(null)
    callback()
  }

  _destroy (err, callback) {
    this.moved++
    // As a peer sees a destroyed socket: its end.
    if (!this.other.readableEnded && !this.other.destroyed && !this.writableFinished) this.other.push(null)
    callback(err)
  }
}

function duplexPair () {
  const one = new Side({ allowHalfOpen: true })
  const two = new Side({ allowHalfOpen: true })
  one.other = two
  two.other = one
  return [one, two]
}

/**
 * What differs between two records; [] when nothing does.
 *
 * In the step in which a connection is closed from the server's side, with requests on it that will not get a response, what
 * those still notice depends on the order of events *within* the step; there only requests, bytes and state are compared.
 * What a handler runs into when it responds on a connection that is closed long since is not compared either.
 */
function differences (node, other, steps) {
  const found = []
  const connects = isConnect(steps.map(({ send = '' }) => send.toString('latin1')).join(''))
  for (let step = 0; step < node.length; step++) {
    const a = comparable(node[step])
    const b = comparable(other[step])
    const closing = !steps[step].end && !steps[step].reset && isClosing(node, step) && isClosing(other, step)
    if (step > 0 && node[step - 1].socket === 'destroyed' && other[step - 1].socket === 'destroyed') {
      delete a.errors
      delete a.events
      // behind a CONNECT node forgets the requests in front of it: they are not notified
      if (node[step].count > 1 || connects) delete a.log
    }
    for (const what of closing ? ['requests', 'got', 'socket'] : Object.keys(a)) {
      try {
        assert.deepStrictEqual(b[what], a[what])
      } catch {
        found.push({ step, what, node: a[what], other: b[what] })
      }
    }
  }
  return found
}

function isClosing (record, step) {
  return record[step].socket !== 'open' && (step === 0 || record[step - 1].socket === 'open') && record[step].count > 1
}

function removeRepeated (list, event) {
  for (let i = list.lastIndexOf(event); i > list.indexOf(event); i = list.lastIndexOf(event)) list.splice(i, 1)
}

/**
 * Each kind of event in its own list, most per request: their order within one list is compared, but not whether the
 * app saw request two before or after the client got response one *within* one read. What several things that end in the
 * same step tell has no order (on-finished tells of the last request first).
 */
function comparable ({ requests, log, events, errors, finished, touched, got, socket, count }) {
  for (const list of [finished, ...Object.values(events)]) list.sort()
  // node sends it in front of a response that has its turn and behind one that waits for it: a matter of one read
  // a write behind an end is an error until the response is flushed, which may come in this step
  if (count > 1) for (const list of Object.values(events)) removeRepeated(list, 'error ERR_STREAM_WRITE_AFTER_END')
  const processing = count > 1 ? got.split(PROCESSING).length - 1 : 0
  if (processing > 0) got = got.replaceAll(PROCESSING, '')
  return { requests, log, events, errors, finished, touched, processing, got: got.replace(DATE, 'Date: now\r'), socket }
}

/**
 * The differences that come with handing over, by name; null for every other one.
 *
 * - *junk in the same read*, *CONNECT in the same read*: on a native handle node has responded the good requests of a
 *   read by the time its parser sees the rest; from an unshifted buffer it parses all of it first, and writes only what
 *   the rest deserves. Both close, and the app sees the same requests.
 * - *behind a pending response*: a socket is never handed over while a response of the front is pending, so a request that
 *   is node's begins when that response is sent; node alone begins at once. In the end the app saw the same requests, the
 *   client got what node sent, and the connection is as node left it. If the response never comes, or the connection ends
 *   before, the app saw none of what was node's. What node refuses at once, and closes the connection for, waits, too, and
 *   is then refused with node's bytes.
 * - *a bad line that has not ended*: node refuses a bad byte at once. The front refuses it at the end of its line, or when
 *   the section has maxHeaderSize bytes, and what the fields are together at the end of their section, with the same bytes;
 *   until then the connection is open.
 * - *a body given up in the read that ends it*: from an unshifted buffer node parses a read to its end before a tick
 *   runs, so that a message which the app leaves in the middle is complete.
 * - *where a listener begins*: 'data' listeners get the bytes that come when no request or response is pending, because then
 *   node gets the socket; in a read that ends a request, those behind it. They get what the front has read of a message that
 *   has begun, too, because node's parser must get it. From then on they get what they get from node. One that was there
 *   before node got the socket gets nothing of what node's parser reads from the handle itself; the front gives it all.
 * - *chunks of a stream*: Node 26 merges the chunks of one tick, and those of a stream that is queued. Whether its turn
 *   comes before or after its chunks is a matter of one read. The bodies are the same.
 * - *100 Continue*, and *103 Early Hints within a queued response*: node writes the header section of a queued response
 *   whose body is bytes in front of all that it has queued. Whether the response is queued is a matter of one read.
 * - *node never reads on*: if other code listens for 'data' while too many bytes of responses have stopped node's reading,
 *   node removes its listener for 'resume', and nothing starts the handle again.
 * - *the pause of node's parser*, *what node drops over TLS*: over TLS, records behind a response that is not written make
 *   node fail; a response that TLS has not sent yet is then lost. There a step has several reads, too: a response that was
 *   pending between them may be complete at its end.
 */
function accepted (steps, node, other, transport) {
  const found = differences(node, other, steps)
  const at = found[0].step
  if (found.every(({ what, node, other }) => what === 'got' && isCutOtherwise(node, other))) {
    return 'chunks of a stream'
  }

  if (found.every(({ what }) => what === 'touched') && beginElsewhere(steps, node, other)) return 'where a listener begins'

  if (other[at].node && found.every(({ what, node, other }) => what === 'got' && isEqualButFor(INTERIM, node, other))) {
    return '100 Continue within a queued response'
  }

  if (found.every(({ what, node, other }) => what === 'got' && isMoved(HINTS, node, other))) return '103 Early Hints within a queued response'

  if (found.every(({ step }) => step >= at && isDeaf(node, steps, step))) return 'node never reads on'

  const isRecords = transport === 'records'
  if (isRefusedLater(steps, node, other, at, isRecords)) return 'a bad line that has not ended'

  const all = record => record.map(entry => comparable(entry).got).join('')
  const isMore = isEqual(requestsOf(other).slice(0, requestsOf(node).length), requestsOf(node)) &&
    all(other).startsWith(all(node).replace(REFUSAL, ''))
  if (isRecords && isMore && JSON.stringify(node).includes('HPE_PAUSED')) {
    return "the pause of node's parser"
  }

  const isFewer = isRecords && requestsOf(other).length < requestsOf(node).length
  const waits = isFewer || (at > 0 && owed(other, at - 1) > 0) || (!other[at].node && owed(other, at) > 0)
  if (waits && isLater(steps, node, other) && (beginElsewhere(steps, node, other) || getAPart(steps, node, other))) {
    return 'behind a pending response'
  }

  if (other[at].node && isEqual(requestsOf(node), requestsOf(other)) && /KONE_ERR_BODY_LIMIT/.test(JSON.stringify(node))) {
    return 'a body given up in the read that ends it'
  }

  const chunk = steps[at].send
  const [a, b] = [node, other].map(record => comparable(record[at]).got.replace(REFUSAL, ''))
  if (!chunk || !isEqual(requestsOf(node), requestsOf(other))) return null
  if (node[at].socket === 'open' || other[at].socket === 'open') return null
  if (isRecords && b.startsWith(a) && b !== a) return 'what node drops over TLS'
  if (!a.startsWith(b)) return null
  return isConnect(chunk) ? 'CONNECT in the same read' : 'junk in the same read'
}

/** How many requests have no response at the end of this step. */
const owed = (record, at) => record[at].count - sum(record.slice(0, at + 1), entry => entry.finished.length)

/** Does each listener for 'data' get what it gets from node, but for where it begins, or where node takes the handle? */
function beginElsewhere (steps, node, other) {
  return listenersOf(node, other).every(listener => {
    const heard = record => record.map(({ touched: { [listener]: text = '' } }) => text)
    const [seen, shown] = [node, other].map(heard)
    const [from] = steps.flatMap(({ touch }, i) => touch === 'data' ? [i] : []).slice(listener)
    const last = node[from].node ? Infinity : seen.findLastIndex(text => text !== '')
    let [a, b] = ['', '']
    return seen.every((text, i) => {
      a += text
      b += shown[i]
      if (shown[i] === '') return text === '' || (b === '' && !other[i - 1].node)
      return a.endsWith(b) || b.endsWith(a) || (i > last && b.startsWith(a))
    })
  })
}

/** Does each listener for 'data' get what was sent without a gap? */
function getAPart (steps, node, other) {
  const sent = steps.map(({ send = '' }) => send.toString('latin1')).join('')
  return listenersOf(node, other).every(listener => sent.includes(other.map(({ touched }) => touched[listener] ?? '').join('')))
}

const listenersOf = (...records) => [...new Set(records.flat().flatMap(({ touched = {} }) => Object.keys(touched)))]

/** The same bytes but for the sizes of chunks? */
function isCutOtherwise (one, two) {
  const whole = text => text.replace(/\r\n[0-9a-f]+\r\n/g, '')
  return process.versions.node.split('.')[0] >= 26 && whole(one) === whole(two)
}

const isEqualButFor = (part, one, two) => one.replaceAll(part, '') === two.replaceAll(part, '')

/** The same bytes, but these parts are elsewhere? */
const isMoved = (part, one, two) => isEqualButFor(part, one, two) && isEqual(one.match(part), two.match(part))

/** Has node read nothing since other code listened for 'data' while responses were pending? */
function isDeaf (node, steps, at) {
  const touched = steps.findIndex(({ touch }) => touch === 'data')
  if (touched < 1 || touched >= at) return false
  const finished = sum(node.slice(0, touched), entry => entry.finished.length)
  return node[touched].count > finished &&
    node.slice(touched).every(({ requests, socket }) => requests.length === 0 && socket === 'open')
}

/** Did `other` wait for the end of a line that node refused, or of a section with such a field, and then do as node did? */
function isRefusedLater (steps, node, other, at, isRecords) {
  const dropped = isRecords && node[at].socket === 'destroyed' ? other.map(({ got }) => got).join('') : ''
  const [refusal] = REFUSAL.exec(node[at].got) ?? REFUSAL.exec(dropped) ?? []
  if (refusal === undefined || !isEqual(requestsOf(node), requestsOf(other))) return false
  const got = (record, step) => record.slice(0, step + 1).map(entry => comparable(entry).got).join('')
  const { line, section } = endsBehind(steps, at, refusal, other.maxHeaderSize)
  const left = steps.findIndex((step, i) => i >= at && isLeft(step))
  return other.every(({ socket }, i) => {
    if (i < at) return true
    if (left !== -1 && i >= left) return socket !== 'open'
    // with responses that node has lost
    if (!got(other, i).startsWith(got(node, i).replace(refusal, ''))) return false
    const refuses = socket !== 'open' && got(other, i).endsWith(refusal)
    return i >= section ? refuses : (i >= line && refuses) || socket === 'open'
  })
}

/**
 * In which steps the line, or all the `limit` that a section has, and the section end that node refused at step `at`. Some
 * fields are refused with the section.
 */
function endsBehind (steps, at, refusal, limit) {
  const sent = steps.map(({ send = '' }) => send.toString('latin1'))
  const before = sent.slice(0, at + 1).join('')
  const begun = before.split('\r\n\r\n').at(-1)
  const isTogether = refusal.includes(' 431 ') || TOGETHER.test(begun)
  let text = before.slice(-2)
  let size = begun.length
  let line = Infinity
  let isEnded = false
  for (let i = at + 1; i < steps.length; i++) {
    text += sent[i]
    size += sent[i].length
    isEnded ||= sent[i].includes('\n')
    if (line === Infinity && (isEnded || size >= limit)) line = i
    if (isEnded && (!isTogether || /\n\r?\n/.test(text))) return { line, section: i }
  }
  return { line, section: Infinity }
}

/** Does the client, or other code, end the connection? */
const isLeft = ({ end, reset, touch }) => end || reset || /^(?:end|destroy)/.test(touch)

/** Fields that only the whole section shows to be good. */
const TOGETHER = /(?:content-length|transfer-encoding)\s*:/i

/** Did `other` come to the same, only later? What node refuses at once waits, and is refused with node's bytes. */
function isLater (steps, node, other) {
  const [seen, shown] = [node, other].map(requestsOf)
  const [a, b] = [node, other].map(record => record.map(entry => comparable(entry).got).join('').replaceAll(INTERIM, ''))
  // What each sent before it refused the rest, with or without words.
  const [before, until] = [a, b].map(got => got.replace(REFUSAL, ''))
  if (!isEqual(seen.slice(0, shown.length), shown)) return false
  // What begins after the step `free` is not held any more: its app may say something else.
  if (seen.length === shown.length && node.at(-1).socket === other.at(-1).socket && answers(a) === answers(b)) return true
  const isClosed = node.at(-1).socket !== 'open' && other.at(-1).socket !== 'open'
  if (!isClosed && other.at(-1).node) return false
  if (!b.startsWith(before) && !a.startsWith(until)) return false
  const [refusal] = REFUSAL.exec(a) ?? []
  if (refusal === undefined || b.endsWith(refusal)) return true
  const refused = node.findIndex(({ got }) => got.endsWith(refusal))
  // A request whose body node refuses may have its response by then.
  if (isClosed) return steps.some(isLeft) || CLOSES.test(b) || EXPECTATION.test(b) || node[refused].requests.length > 0
  return owed(other, other.length - 1) > 0 || endsBehind(steps, refused, refusal).section === Infinity
}

/** A response that ends the connection. */
const CLOSES = /\r\nconnection:.*close/i

/** A response of node's own, which it gives at once: what it refuses behind it in the same go gets no words. */
const EXPECTATION = /HTTP\/1\.1 417 Expectation Failed\r\n(?:.+\r\n)+\r\n(?:0\r\n\r\n)?$/

const answers = got => got.split(/HTTP\/1\.1 \d{3}/).length

const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n'

/** Node sends it at once, be it into the midst of another response. */
const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\n'

const HINTS = /HTTP\/1\.1 103 Early Hints\r\n(?:.+\r\n)*\r\n/g

/** How node refuses: raw bytes without a Date. */
const REFUSAL = /HTTP\/1\.1 4\d\d [\w ]+\r\nConnection: close\r\n\r\n$/

const requestsOf = record => record.flatMap(entry => entry.requests)
const isEqual = (one, two) => JSON.stringify(one) === JSON.stringify(two)
const isConnect = chunk => /CONNECT /.test(chunk.toString('latin1'))
const sum = (list, of) => list.reduce((total, one) => total + of(one), 0)

/** Differences for people: the step and the bytes that led there, both sides from where they part. */
function explain (steps, found) {
  return found.slice(0, MOST_SHOWN).map(({ step, what, node, other }) => {
    const [a, b] = [node, other].map(value => JSON.stringify(value))
    let at = 0
    while (at < a.length && a[at] === b[at]) at++
    const from = at < SHOWN / 2 ? 0 : at - 60
    const show = text => (from ? '…' : '') + text.slice(from, from + SHOWN) + (text.length > from + SHOWN ? '…' : '')
    return `step ${step} (${describe(steps[step])}), ${what}:\n  node:http ${show(a)}\n  front     ${show(b)}`
  }).join('\n')
}

function describe (step) {
  if (!step.send) return Object.keys(step)[0]
  const text = JSON.stringify(step.send.toString('latin1'))
  return text.length > 300 ? `${text.slice(0, 200)}… ${step.send.length} bytes` : text
}

/** How a message can be cut: every one a list of `send` steps with the same bytes. */
const cuts = {
  whole: bytes => [{ send: bytes }],
  bytes: bytes => Array.from(bytes, (byte, i) => ({ send: bytes.subarray(i, i + 1) })),
  random (bytes, random, pieces = 6) {
    const marks = Array.from({ length: pieces - 1 }, () => Math.floor(random() * bytes.length))
    const ends = [...new Set([...marks, bytes.length])].filter(end => end > 0).sort((a, b) => a - b)
    let from = 0
    return ends.map(end => {
      const send = bytes.subarray(from, end)
      from = end
      return { send }
    })
  }
}

module.exports = {
  ARRIVALS,
  TOUCHES,
  accepted,
  callback,
  cuts,
  differences,
  duplexPair,
  exchange,
  exchangeOf,
  explain,
  front,
  open
}
