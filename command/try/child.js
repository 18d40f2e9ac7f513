'use strict'

/**
 * Loaded first in every process of an app that `kone try` has started (NODE_OPTIONS): gives its servers ports of their
 * own and notifies `kone try` of them. On the side of kone, kone is in Koa's place.
 */

const cluster = require('node:cluster')
const http = require('node:http')
const https = require('node:https')
const nodeModule = require('node:module')
const net = require('node:net')
const { isMainThread } = require('node:worker_threads')
const { ask } = require('./profile')
const { Channel } = require('./channel')

const { port: hub, index, isKone } = JSON.parse(process.env.KONE_TRY)
const LOCAL = [undefined, 'localhost', '127.0.0.1', '::1', '0.0.0.0']
const apps = []
const ports = new Map() // as the app has named them → of its servers
const fallbacks = new Set() // why kone's front is not used
const replacement = isKone ? kone() : koa()
let channel = null

if (isMainThread) watch()

function kone () {
  const { channel } = require('node:diagnostics_channel')
  channel('kone:application').subscribe(({ app }) => apps.push(app))
  channel('kone:fallback').subscribe(({ reason }) => fallbacks.add(reason))
  return require('../as-koa')
}

/** Koa stays, and is noticed. */
function koa () {
  const { Replacement } = require('../as-koa/replacement')
  const replacement = new Replacement()
  const { _resolveFilename } = nodeModule
  nodeModule._resolveFilename = function (...args) {
    const file = _resolveFilename.apply(this, args)
    replacement.has(file)
    return file
  }
  return replacement
}

/**
 * Each server of HTTP listens on a free port of this machine, whatever the app has named. Others listen where they
 * would: by them parts of a process group find each other, and packages find a free port.
 */
function watch () {
  const { listen } = net.Server.prototype
  const { connect } = net.Socket.prototype

  net.Server.prototype.listen = function (...args) {
    const protocol = protocolOf(this)
    if (protocol === null) return listen.apply(this, args)
    const [first] = args
    const given = first !== null && typeof first === 'object' ? first : { port: first }
    const asked = given.path ?? (isPath(given.port) ? given.port : Number(given.port ?? 0) || 0)
    const then = args.findLast(arg => typeof arg === 'function')
    this.once('listening', () => report(this, protocol, asked))
    const where = { ...given, path: undefined, port: 0, host: '127.0.0.1' }
    return listen.call(this, where, ...then ? [then] : [])
  }

  // What the app sends to its own port reaches it.
  net.Socket.prototype.connect = function (...given) {
    const args = Array.isArray(given[0]) ? given[0] : given // node's own calls have them in a list
    const [first, host] = args
    const wanted = first !== null && typeof first === 'object' ? first : { port: first, ...typeof host === 'string' && { host } }
    const port = ports.get(Number(wanted.port))
    if (port !== undefined && LOCAL.includes(wanted.host)) args[0] = { ...wanted, port, host: '127.0.0.1' }
    return connect.apply(this, given)
  }
}

const isPath = value => typeof value === 'string' && !/^\d+$/.test(value)

function report (server, protocol, asked) {
  if (channel === null) {
    channel = new Channel(net.connect(hub, '127.0.0.1'), answer)
    channel.socket.unref().on('close', () => process.exit()) // `kone try` has ended
    channel.send({ index, pid: process.pid })
  }
  const { port } = server.address()
  ports.set(asked, port)
  channel.send({ listens: { asked, protocol, port, isWorker: cluster.isWorker, ...found() } })
}

/** Servers of HTTP/2, whose classes node does not export, by their names. */
const HTTP2 = { Http2Server: 'http2', Http2SecureServer: 'https2' }

function protocolOf (server) {
  if (server instanceof https.Server) return 'https'
  return server instanceof http.Server ? 'http' : HTTP2[server.constructor.name] ?? null
}

const found = () => ({ koa: replacement.version, other: replacement.leftAlone })

/** What `kone try` requests of a process. */
async function answer ({ id, what }) {
  channel.send({ id, value: what === 'routes' ? routes() : what === 'fallbacks' ? [...fallbacks] : await ask(what) })
}

function routes () {
  const { routesOf } = require('../table')
  return apps.flatMap(routesOf).filter(({ method }) => method === 'GET' || method === '*').map(({ path }) => path)
}
