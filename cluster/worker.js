'use strict'

/**
 * One worker: loads the app, lets it listen, says `ready`, and drains when it has to end. The
 * same under node:cluster, under pm2, and alone, as the dry run before a start or a reload.
 */

const cluster = require('node:cluster')
const { subscribe } = require('node:diagnostics_channel')
const { chmodSync } = require('node:fs')
const net = require('node:net')
const { callEach, close } = require('../lib/core/closing')
const { track } = require('../lib/engines/drain')
const { now } = require('../lib/shared/timers')
const { portOf, requested, withHost } = require('./address')
const { listenOn, load } = require('./app-file')
const errorLine = require('./error-line')
const { BEFORE, GRACE, PAGE, REPLACED, portError } = require('./settings')

const { KONE_APP: file, KONE_DRY_RUN: isDryRun } = process.env
delete process.env.KONE_APP
delete process.env.KONE_DRY_RUN

const port = portOf(process.env.PORT)
const { HOST: host, KONE_SOCKET_MODE: socketMode } = process.env
const timeout = Number(process.env.DRAIN_TIMEOUT)
const reusePort = process.env.KONE_REUSE_PORT === '1'

const LOADING = 'loading'
const LOADED = 'loaded' // and nothing listens on PORT yet
const READY = 'ready' // which it may be while the file is still loading
const DRAINING = 'draining'
const FAILED = 'failed'

/**
 *    LOADING ──▶ LOADED ──▶ READY
 *        └──────────┴─────────┼──▶ FAILED ──▶ exit(1)
 *                             └──▶ DRAINING ──▶ exit(0)     also FAILED
 */
class Worker {
  #state = LOADING
  #servers = new Set() // whoever made them
  #closings = new Set() // what apps have given to onClose()
  #listens = false // the app listens on PORT
  #elsewhere // the first other port
  #isReplaced = false // by a new worker: its functions that precede the drain are not called
  #deadline // by now()
  #fail = thrown => this.fail(thrown)
  #nothingListens = () => this.nothingListens()

  async run () {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => this.stop())
    process.on('message', message => this.onMessage(message))
    subscribe('kone:closing', closing => this.#closings.add(closing))
    // to the terminal's whole group, for the master alone
    if (!isPm2()) process.on('SIGHUP', () => {})

    process.on('uncaughtException', this.#fail)
    process.on('beforeExit', this.#nothingListens)
    // until somebody listens, only the app itself keeps the process alive
    process.channel?.unref()

    const worker = this
    const { listen } = net.Server.prototype
    net.Server.prototype.listen = function (...args) {
      return listen.apply(this, worker.listens(this, args))
    }
    try {
      await this.load()
    } catch (err) {
      this.fail(err)
    }
  }

  async load () {
    const exported = await load(file, { notes: Boolean(isDryRun) })
    if (this.#state === LOADING) this.#state = LOADED
    if (this.#listens) return
    if (exported?.listening) {
      throw new Error(`the server that it exports listens${this.#elsewhere === undefined ? '' : ` on port ${this.#elsewhere}`} already: ` +
        `let it listen on process.env.PORT, or leave that to kone${PAGE}`)
    }
    listenOn(port, exported)
  }

  onMessage (message) {
    if (message === 'shutdown') this.stop()
    if (message === REPLACED) this.#isReplaced = true
    if (message === BEFORE) callEach(this.#closings, 'before', this.#limits()).then(() => tell(BEFORE))
  }

  /**
   * A server is about to listen.
   *
   * @return {any[]} the arguments of node's `listen`
   */
  listens (server, args) {
    if (!this.#servers.has(server)) server.once('close', () => this.#servers.delete(server))
    this.#servers.add(server)
    track(server)
    process.channel?.ref()
    if (requested(args) !== port) {
      if (requested(args) > 0) this.#elsewhere ??= requested(args)
      if (isDryRun && this.#elsewhere !== undefined) tell({ elsewhere: this.#elsewhere })
      return isDryRun ? anyPort(args) : args
    }

    const isOwn = this.#listens
    const failed = err => this.fail(portError(port, err, isOwn))
    this.#listens = true
    server.once('error', failed)
    server.once('listening', () => {
      server.removeListener('error', failed)
      try {
        if (socketMode !== undefined && !isDryRun) chmodSync(port, parseInt(socketMode, 8))
      } catch (err) {
        return failed(err)
      }
      this.ready(server)
    })
    const bound = host ? withHost(args, host) : args
    return isDryRun ? anyPort(bound) : reusePort ? withReusePort(bound) : bound
  }

  ready (server) {
    if (this.#state !== LOADING && this.#state !== LOADED) return
    this.#state = READY
    process.removeListener('uncaughtException', this.#fail)
    process.removeListener('beforeExit', this.#nothingListens)
    process.on('uncaughtExceptionMonitor', err => tell({ died: errorLine(err) }))
    if (isDryRun && typeof server.setSecureContext === 'function') tell({ protocol: 'https' }) // without loading node:tls
    if ([...this.#closings].some(closing => closing.has('before'))) tell({ before: true })
    tell('ready', () => {
      if (isDryRun) this.stop()
    })
  }

  nothingListens () {
    this.fail(new Error(this.#state === LOADING
      ? `the promise that it exports, or one that it awaits outside of functions, is never settled${PAGE}`
      : `it exports neither an app nor a function nor a server, and nothing listens on port ${port}: export an app, or listen there${PAGE}`))
  }

  fail (thrown) {
    if (this.#state === DRAINING) process.exit(0)
    if (this.#state === FAILED) return
    const message = errorLine(thrown)
    if (isPm2()) console.error(message)
    else if (this.#state === READY) console.error(`kone: ${message}`) // nobody waits for the message any more
    this.#state = FAILED
    tell({ failed: message }, () => process.exit(1))
  }

  stop () {
    if (this.#state === DRAINING) return
    this.#state = DRAINING
    const before = !isDryRun && !this.#isReplaced
    close(this.#closings, isDryRun ? [] : this.#servers, { ...this.#limits(), grace: GRACE, before }).then(() => {
      // Disconnects from the primary first, so that a connection being handed over goes to another worker.
      if (cluster.isWorker && cluster.worker.isConnected()) cluster.worker.kill()
      else process.exit(0)
    })
  }

  /** From the first call on, when everything is over. */
  #limits () {
    this.#deadline ??= now() + timeout
    return { deadline: this.#deadline, timeout }
  }
}

if (isDryRun) {
  process.on('disconnect', () => process.exit(0)) // nobody waits for it any more
  cluster.fork = () => {
    throw new Error('it starts workers itself (cluster.fork), as kone start does: let it listen without them, ' +
      `or start it with node${PAGE}`)
  }
  const { Socket } = require('node:dgram')
  const { bind } = Socket.prototype
  Socket.prototype.bind = function (...args) {
    return bind.apply(this, anyPort(args))
  }
}
new Worker().run()

/** The dry run runs beside the workers that have the app's ports, of UDP too, and Unix sockets. */
function anyPort ([first, ...rest]) {
  if (Number(first) || typeof first === 'string') return [0, ...rest]
  return first?.port || first?.path ? [{ ...first, path: undefined, port: 0 }, ...rest] : [first, ...rest]
}

/** `listen(options, callback)`, or `listen(port, host, backlog, callback)` with or without the last three. */
function withReusePort ([first, ...rest]) {
  if (typeof first === 'object') return [{ ...first, reusePort }, ...rest]
  const host = rest.find(value => typeof value === 'string')
  const backlog = rest.find(value => typeof value === 'number')
  return [{ port: first, host, backlog, reusePort }, rest.find(value => typeof value === 'function')]
}

function tell (message, callback = () => {}) {
  if (process.connected) process.send(message, () => callback())
  else callback()
}

function isPm2 () {
  return process.env.pm_id !== undefined
}
