'use strict'

/*
 * The process under siege: one engine, one conversation at a time, ordered by IPC.
 *
 *    node --expose-gc --expose-internals servers.js front|node:http
 *
 *    { type: 'open', conversation, exact } → { type: 'open', port }
 *    { type: 'close' }                     → { type: 'report', … }
 *    { type: 'turn' }                      → { type: 'turn' }
 *
 * Nothing is caught here but what listeners throw on purpose: what escapes ends the process, and that is a finding.
 */

const fs = require('node:fs')
const http = require('node:http')
const { once } = require('node:events')
const { AsyncLocalStorage } = require('node:async_hooks')
const { monitorEventLoopDelay } = require('node:perf_hooks')
const https = require('node:https')
const net = require('node:net')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')

const { timerListMap } = require('internal/timers')
const Kone = require('../../../helpers/kone')
const { ARRIVALS } = require('../harness')
const { credentials } = require('../sides')
const handlers = require('./handlers')

const ENGINE = process.argv[2]

/** How often memory, CPU and listeners are looked at, in ms. */
const PERIOD = 10

/** How long what is left may take to go away when all clients are gone, in ms. */
const PATIENCE = 3000

const SECOND = 1100

/** Of the event loop, in which everything that is due has its turn. */
const TURNS = 20

/** What happened to one request. */
class Log {
  constructor (client, request) {
    this.client = client
    this.request = request
    this.starts = 0
    this.startedAt = 0
    this.port = 0
    this.draining = false
    this.ownStore = true   // the async store is that of the connection
    this.listeners = 0     // given to ctx.onFinished
    this.finished = []     // how each was called: { code, sent, flushed, at }
    this.events = 0        // 'finish' of the app
    this.watched = false
    this.res = { finish: 0, close: 0 }
    this.bodies = []       // how each read of the request's body ended
    this.reads = 0
  }

  start (ctx) {
    this.starts++
    this.startedAt = Date.now()
    this.port = ctx.socket.remotePort ?? 0
    this.draining = current.draining
    this.ownStore &&= hasThrown || store.getStore() === (current.door === null ? undefined : ctx.socket)
  }

  listen (ctx) {
    const { socket } = ctx
    this.listeners++
    ctx.onFinished(err => this.finished.push({
      sent: err === null,
      error: err === null ? '' : err instanceof Error ? String(err.code) : `no Error: ${err}`,
      message: err === null ? '' : String(err && err.message),
      flushed: flushed(socket),
      at: Date.now()
    }))
    ctx.onFinished(() => current?.throwIn('onFinished'))
  }

  watch (res) {
    this.watched = true
    res.on('finish', () => {
      this.res.finish++
      current?.throwIn("'finish' of res")
    })
    res.on('close', () => {
      this.res.close++
      current?.throwIn("'close' of res")
    })
  }

  async body (reading) {
    this.reads++
    try {
      const body = await reading
      this.bodies.push({ length: body.length, good: body.every(byte => byte === body[0]), error: '' })
    } catch (err) {
      this.bodies.push({ length: 0, good: true, error: err instanceof Error ? String(err.code) : `no Error: ${err}` })
      throw err
    }
  }
}

/** Bytes of a connection that left the process: not those that wait in node or in libuv. */
function flushed (socket) {
  const { _handle: handle } = socket
  if (!handle) return socket.bytesWritten ?? 0
  return handle.bytesWritten - handle.writeQueueSize
}

let current = null

/** The socket of the connection, when another server has accepted it. */
const store = new AsyncLocalStorage()

const THROWN = 'thrown by a listener of the siege'

/** Node 24 and 26 leave the context of a tick that throws as that of the process. */
let hasThrown = false

// What a listener throws ends nothing when an app has such a handler.
process.on('uncaughtException', err => {
  hasThrown = true
  if (err.message === THROWN) return
  console.error(err)
  process.exit(1)
})

async function makeServer (arrival) {
  const options = { connectionsCheckingInterval: 50 }
  return arrival === 'tls' ? https.createServer({ ...options, ...await credentials() }) : http.createServer(options)
}

/** A server that gives its sockets to `server`. */
function openDoor (server, arrival) {
  const door = net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: arrival === 'paused' })
  door.on('connection', socket => {
    const onError = () => {}
    socket.on('error', onError)
    ARRIVALS[arrival](socket, () => {
      socket.off('error', onError)
      if (!socket.destroyed) store.run(socket, () => server.emit('connection', socket))
    })
  })
  return door
}

async function open ({ conversation, exact }) {
  const { server: { finish, ...options }, drain, stranger, call, arrival, throws } = conversation
  const logs = new Map()
  const app = new Kone({ http1: ENGINE === 'front' })
  const errors = []
  const connections = []
  const timers = []
  const server = await makeServer(arrival)
  const door = arrival in ARRIVALS ? openDoor(server, arrival) : null
  const atDoor = new Set()
  door?.on('connection', socket => atDoor.add(socket))
  const left = new Set(throws)
  Object.assign(server, options)
  const self = current = {
    app,
    server,
    logs,
    errors,
    connections,
    timers,
    draining: false,
    drainedAt: 0,
    closedAt: 0,
    calledAt: 0,
    door,
    atDoor,
    /** Throws the first time. */
    throwIn (name) {
      if (left.delete(name)) throw new Error(THROWN)
    },
    sampler: new Sampler(exact)
  }

  const logOf = (client, request) => {
    const id = `${client}.${request}`
    if (!logs.has(id)) logs.set(id, new Log(client, request))
    return logs.get(id)
  }
  app.silent = true
  app.on('error', err => errors.push({ code: String(err.code), name: err.name, stack: String(err.stack) }))
  if (finish) {
    app.on('finish', ctx => {
      const [, client, request] = ctx.path.split('/').map(Number)
      logOf(client, request).events++
      current?.throwIn('finish')
    })
  }
  app.use(handlers(conversation, logOf))
  app.attach(server)
  server.on(arrival === 'tls' ? 'secureConnection' : 'connection', socket => {
    const connection = { socket, port: socket.remotePort, openedAt: Date.now(), closedAt: 0, failed: false }
    connections.push(connection)
    socket.once('close', failed => {
      connection.closedAt = Date.now()
      connection.failed = failed
      connection.socket = null
      current?.throwIn('close')
    })
    self.throwIn('connection')
  })
  for (const event of ['timeout', 'clientError']) {
    if (!throws.includes(event)) continue
    server.once(event, (...args) => {
      const [socket, err] = args.reverse()
      socket.destroy(err)
      self.throwIn(event)
    })
  }
  for (const one of door === null ? [server] : [server, door]) await once(one.listen(0, '127.0.0.1'), 'listening')
  const before = listenersOf(server)
  self.listenersLeft = () => difference(listenersOf(server), before)
  self.sampler.start(connections)

  if (drain !== null) {
    timers.push(setTimeout(() => {
      self.draining = true
      self.drainedAt = Date.now()
      self.closing = app.close({ timeout: drain.timeout, grace: drain.grace }).then(() => { self.closedAt = Date.now() })
    }, drain.at))
  }
  if (call !== null) {
    timers.push(setTimeout(() => {
      self.calledAt = Date.now()
      server[call.name]()
    }, call.at))
  }
  if (stranger !== null) {
    const listener = () => {}
    timers.push(setTimeout(() => server.on('request', listener), stranger.from))
    timers.push(setTimeout(() => server.off('request', listener), stranger.to))
    self.withoutStranger = () => server.off('request', listener)
  }
  return { type: 'open', port: (door ?? server).address().port }
}

/** All clients are gone: what is still there after a while was left behind. */
async function close () {
  const { app, server, logs, errors, connections, timers, sampler } = current
  const drained = current.drainedAt !== 0
  for (const timer of timers) clearTimeout(timer)
  current.withoutStranger?.()
  // While a body is not read, nobody notices that its client is gone: then the timeout of the request counts.
  await until(() => connections.every(({ closedAt }) => closedAt > 0), PATIENCE + server.requestTimeout)
  const open = connections.filter(({ closedAt }) => closedAt === 0).length
  for (const { socket } of connections) socket?.destroy()
  const done = log => log.finished.length >= log.listeners && log.bodies.length >= log.reads
  await until(() => [...logs.values()].every(done))
  await turn()
  await turn()

  // Nothing is open, so that it need not wait.
  const closing = current.closing ?? app.close({ timeout: 10 * PATIENCE, grace: 0 })
  let closed = false
  closing.then(() => { closed = true })
  await until(() => closed)
  if (server.listening) server.close()
  // A client that sent nothing never reached the server.
  for (const socket of current.atDoor) socket.destroy()
  if (current.door !== null) await new Promise(resolve => current.door.close(resolve))
  const left = current.listenersLeft()
  const seen = sampler.stop()
  const { drainedAt, closedAt, calledAt } = current
  const report = {
    type: 'report',
    logs: [...logs.values()],
    errors: errors.map(({ code, name, stack }) => ({ code, name, stack: stack.slice(0, 600) })),
    connections: connections.map(({ socket, ...rest }) => rest),
    open,
    closed,
    drainedAt: drained ? drainedAt : 0,
    closedAt,
    calledAt,
    listeners: left,
    warnings: warnings.splice(0),
    ...seen
  }
  current = null
  handlers.forget()
  await until(() => descriptors() <= idle.descriptors && resources().length <= idle.resources.length, 1500)
  report.descriptors = descriptors() - idle.descriptors
  report.resources = difference(count(resources()), count(idle.resources))
  // What is left behind is a finding of this conversation, not of the next one, too.
  settle()
  return report
}

/** What is left of all conversations so far: bytes of the heap, and timers, those that keep no process alive included. */
async function rest () {
  await sleep(SECOND) // what node caches for a second is gone
  const timers = timerCount()
  for (let i = 0; i < 3; i++) {
    await turn()
    global.gc()
  }
  return { type: 'rest', heap: process.memoryUsage().heapUsed, timers }
}

/** Timers that are set. Node has no public list of those that are not ref'd. */
function timerCount () {
  let count = 0
  for (const list of Object.values(timerListMap)) {
    for (let timer = list._idlePrev; timer !== list; timer = timer._idlePrev) count++
  }
  return count
}

/** What a conversation costs while it lasts. */
class Sampler {
  constructor (exact) {
    this.exact = exact // collect before memory is measured: what is garbage does not count
    this.memory = 0
    this.block = 0
    this.listeners = ['', 0]
    this.timer = null
  }

  start (connections) {
    this.connections = connections
    global.gc()
    this.base = inUse()
    this.cpu = cpuTime()
    this.delay = monitorEventLoopDelay({ resolution: PERIOD })
    this.delay.enable()
    this.timer = setInterval(() => this.look(), this.exact ? 2 * PERIOD : PERIOD)
  }

  look () {
    const cpu = cpuTime()
    this.block = Math.max(this.block, cpu - this.cpu)
    if (this.exact && inUse() - this.base > this.memory) global.gc()
    this.memory = Math.max(this.memory, inUse() - this.base)
    for (const { socket } of this.connections) {
      if (socket === null) continue
      for (const name of socket.eventNames()) {
        const number = socket.listenerCount(name)
        if (number > this.listeners[1]) this.listeners = [String(name), number]
      }
    }
    this.cpu = cpuTime()
  }

  stop () {
    clearInterval(this.timer)
    this.delay.disable()
    this.connections = []
    return { memory: this.memory, block: this.block, stalled: this.delay.max / 1e6, socketListeners: this.listeners }
  }
}

function inUse () {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + Math.max(external, arrayBuffers)
}

const SCHEDSTAT = '/proc/thread-self/schedstat'
const linux = fs.existsSync(SCHEDSTAT)

/** Of the main thread alone, in ms: what helper threads of V8 do blocks nobody. */
function cpuTime () {
  if (linux) return Number(fs.readFileSync(SCHEDSTAT, 'latin1').split(' ')[0]) / 1e6
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function descriptors () {
  return linux ? fs.readdirSync('/proc/self/fd').length : 0
}

function resources () {
  return process.getActiveResourcesInfo()
}

function listenersOf (emitter) {
  return Object.fromEntries(emitter.eventNames().map(name => [String(name), emitter.listenerCount(name)]))
}

function count (names) {
  const counts = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function difference (after, before) {
  const more = {}
  for (const [name, number] of Object.entries(after)) {
    if (number > (before[name] ?? 0)) more[name] = number - (before[name] ?? 0)
  }
  return more
}

async function until (holds, patience = PATIENCE) {
  const last = Date.now() + patience
  while (!holds() && Date.now() < last) await sleep(PERIOD)
}

const warnings = []
process.on('warning', ({ name, message, type }) => warnings.push(`${name} ${type ?? ''} ${message}`.slice(0, 200)))

/** What was due here, timers and bytes, has been done by then. */
async function turns () {
  for (let i = 0; i < TURNS; i++) {
    await sleep(1)
    await turn()
  }
  return { type: 'turn' }
}

const commands = { open, close, rest, turn: turns }

process.on('message', async message => {
  process.send(await commands[message.type](message))
})
process.on('disconnect', () => process.exit())

const idle = { descriptors: 0, resources: [] }

function settle () {
  idle.resources = resources()
  idle.descriptors = Math.max(idle.descriptors, descriptors())
}

setImmediate(() => {
  settle()
  process.send({ type: 'ready' })
})
