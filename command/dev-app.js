'use strict'

/**
 * The process that `kone dev` runs under `node --watch`: loads the app, lets it listen, prints its
 * routes and its URL.
 */

const cluster = require('node:cluster')
const { channel, subscribe } = require('node:diagnostics_channel')
const net = require('node:net')
const tls = require('node:tls')
const { portOf, urlOf, withHost } = require('../cluster/address')
const { listenOn, load } = require('../cluster/app-file')
const errorLine = require('../cluster/error-line')
const { removeStale } = require('../cluster/port')
const { portError } = require('../cluster/settings')
const { close } = require('../lib/core/closing')
const { drain, track } = require('../lib/engines/drain')
const { names } = require('../lib/core/settings')
const { escapeControls } = require('../middleware/_shared/escape')
const callSites = require('./call-sites')
const errorPage = require('./error-page')
const { ownHostOnly } = require('./local')
const { print } = require('./print')
const { lines, routesOf } = require('./table')

const { KONE_APP: file, KONE_DEV_HOST: host } = process.env
delete process.env.KONE_APP
delete process.env.KONE_DEV_HOST
const isProduction = process.env.NODE_ENV === 'production'

const apps = []
let listens = false
const begun = new Map() // server → address, of those that have begun to listen in this turn
let printed = null // what the app prints meanwhile
const servers = new Set()
const closings = new Set() // what apps have given to onClose()
const hosts = new Set() // that listen() got
const ports = new Set() // where it listens

process.on('uncaughtException', fail)
process.on('beforeExit', () => {
  if (listens) return
  fail(new Error(`${file} exports neither an app nor a function nor a server, and nothing listens: ` +
    'export the app (kone/docs/api/command.md)'))
})

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(signal))
subscribe('kone:closing', closing => closings.add(closing))

const { listen } = net.Server.prototype
net.Server.prototype.listen = function (...args) {
  listens = true
  servers.add(this)
  track(this)
  this.once('close', () => servers.delete(this))
  this.once('listening', () => announce(this))
  const all = withHost(args, host ?? '127.0.0.1')
  hosts.add(all[0]?.host ?? all[1])
  return listen.apply(this, all)
}

if (cluster.isPrimary) {
  const { fork } = cluster
  cluster.fork = function (env) {
    listens = true // workers will
    return fork.call(cluster, { KONE_APP: file, KONE_DEV_HOST: host, ...env }) // they run this file again
  }
}

callSites.keep()
start().catch(fail)

async function start () {
  channel('kone:application').subscribe(({ app, options }) => {
    apps.push(app)
    app.middleware.push(ownHostOnly(host)) // the constructor of a subclass, whose use() it may be, has not run yet
    if (isProduction) return
    app.middleware.push(errorPage(file))
    for (const name of Object.keys(options)) {
      if (!names.includes(name)) console.error(`kone: new Kone({ ${escapeControls(name)} }): there is no such option, expected ${names.join(', ')} (kone/docs/api/application.md)`)
    }
  })
  const port = portOf(process.env.PORT)
  if (typeof port === 'string' && cluster.isPrimary) await removeStale(port) // of the process before
  const exported = await load(file)
  if (!listens) listenOn(port, exported)
}

function announce (server) {
  const at = server.address()
  if (at === null || cluster.worker?.id > 1) return
  ports.add(at.port ?? at)
  begun.set(server, at)
  server.once('close', () => begun.delete(server)) // it has looked for a free port
  if (printed !== null) return
  printed = printedFromNow()
  // after the listeners of the app, which may print the URL themselves
  setImmediate(() => {
    const text = printed()
    printed = null
    if (begun.size > 0) print(apps.splice(0).flatMap(app => lines(routesOf(app))))
    for (const [server, at] of begun) {
      const port = at.port ?? at // of a Unix socket its path
      const isSaid = text.includes(typeof port === 'string' ? port : `:${port}`)
      if (port && cluster.isPrimary && !isSaid) console.log(urlOf(server instanceof tls.Server ? 'https' : 'http', port, at.address))
    }
    begun.clear()
  })
}

/** @return {function(): string} stops, and returns what was written to standard output */
function printedFromNow () {
  const { write } = process.stdout
  let text = ''
  process.stdout.write = function (chunk, ...rest) {
    text += chunk
    return write.call(this, chunk, ...rest)
  }
  return () => {
    process.stdout.write = write
    return text
  }
}

/**
 * As long as no other code listens to the signal and ends the process itself. Nobody is served to the end, because a
 * restart is to be quick; what precedes a drain is for balancers.
 */
function stop (signal) {
  if (process.listenerCount(signal) > 1) return
  if (closings.size === 0) process.exit(0)
  for (const server of servers) drain(server, { timeout: 0, grace: 0 })
  const timeout = Number(process.env.DRAIN_TIMEOUT)
  close(closings, servers, { timeout, grace: 0, before: false }).then(() => process.exit(0))
}

function fail (err) {
  const isSocket = err?.syscall === 'listen' && err.address === process.env.PORT
  const isPort = err?.syscall === 'listen' && err.port > 0 && ['EADDRINUSE', 'EACCES'].includes(err.code)
  const isHost = err?.syscall === 'getaddrinfo' ? hosts.has(err.hostname) : err?.syscall === 'listen' && err.code === 'EADDRNOTAVAIL'
  if (isPort || isSocket) {
    const port = isPort ? err.port : err.address
    console.error(`kone: ${portError(port, err, ports.has(port)).message}`)
  } else if (isHost) {
    console.error(`kone: cannot listen: ${errorLine(err)}: --host or HOST must be an address of this machine (kone/docs/api/command.md)`)
  } else {
    console.error(`kone: ${errorLine(err)}`)
  }
  process.exit(1)
}
