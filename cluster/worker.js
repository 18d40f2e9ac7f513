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

const servers = new Set() // whoever made them
const closings = new Set() // what apps have given to onClose()
let loaded = false
let listens = false // the app listens on PORT
let elsewhere // the first other port
let ready = false
let failing = false
let draining = false
let isReplaced = false // by a new worker: its functions that precede the drain are not called
let deadline // by now()

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
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
process.on('message', message => {
  if (message === 'shutdown') stop()
  if (message === REPLACED) isReplaced = true
  if (message === BEFORE) callEach(closings, 'before', { deadline: endOf(), timeout }).then(() => tell(BEFORE))
})
subscribe('kone:closing', closing => closings.add(closing))
// to the terminal's whole group, for the master alone
if (!isPm2()) process.on('SIGHUP', () => {})

process.on('uncaughtException', fail)
process.on('beforeExit', nothingListens)
// until somebody listens, only the app itself keeps the process alive
process.channel?.unref()

const { listen } = net.Server.prototype
net.Server.prototype.listen = function (...args) {
  if (!servers.has(this)) this.once('close', () => servers.delete(this))
  servers.add(this)
  track(this)
  process.channel?.ref()
  if (requested(args) !== port) {
    if (requested(args) > 0) elsewhere ??= requested(args)
    if (isDryRun && elsewhere !== undefined) tell({ elsewhere })
    return listen.apply(this, isDryRun ? anyPort(args) : args)
  }

  const isOwn = listens
  const failed = err => fail(portError(port, err, isOwn))
  listens = true
  this.once('error', failed)
  this.once('listening', () => {
    this.removeListener('error', failed)
    try {
      if (socketMode !== undefined && !isDryRun) chmodSync(port, parseInt(socketMode, 8))
    } catch (err) {
      return failed(err)
    }
    isReady(this)
  })
  const bound = host ? withHost(args, host) : args
  return listen.apply(this, isDryRun ? anyPort(bound) : reusePort ? withReusePort(bound) : bound)
}

start().catch(fail)

async function start () {
  const exported = await load(file, { notes: Boolean(isDryRun) })
  loaded = true
  if (listens) return
  if (exported?.listening) {
    throw new Error(`the server that it exports listens${elsewhere === undefined ? '' : ` on port ${elsewhere}`} already: ` +
      `let it listen on process.env.PORT, or leave that to kone${PAGE}`)
  }
  listenOn(port, exported)
}

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

function isReady (server) {
  if (ready) return
  ready = true
  process.removeListener('uncaughtException', fail)
  process.removeListener('beforeExit', nothingListens)
  process.on('uncaughtExceptionMonitor', err => tell({ died: errorLine(err) }))
  if (isDryRun && typeof server.setSecureContext === 'function') tell({ protocol: 'https' }) // without loading node:tls
  if ([...closings].some(closing => closing.has('before'))) tell({ before: true })
  tell('ready', () => {
    if (isDryRun) stop()
  })
}

function nothingListens () {
  if (!loaded) return fail(new Error(`the promise that it exports, or one that it awaits outside of functions, is never settled${PAGE}`))
  fail(new Error('it exports neither an app nor a function nor a server, and nothing listens on ' +
    `port ${port}: export an app, or listen there${PAGE}`))
}

function fail (thrown) {
  if (draining) process.exit(0)
  if (failing) return
  failing = true
  const message = errorLine(thrown)
  if (isPm2()) console.error(message)
  else if (ready) console.error(`kone: ${message}`) // nobody waits for the message any more
  tell({ failed: message }, () => process.exit(1))
}

function tell (message, callback = () => {}) {
  if (process.connected) process.send(message, () => callback())
  else callback()
}

function isPm2 () {
  return process.env.pm_id !== undefined
}

/** @return {number} by now(), when everything is over */
function endOf () {
  return (deadline ??= now() + timeout)
}

function stop () {
  if (draining) return
  draining = true
  const before = !isDryRun && !isReplaced
  close(closings, isDryRun ? [] : servers, { deadline: endOf(), timeout, grace: GRACE, before }).then(() => {
    // Disconnects from the primary first, so that a connection being handed over goes to another worker.
    if (cluster.isWorker && cluster.worker.isConnected()) cluster.worker.kill()
    else process.exit(0)
  })
}
