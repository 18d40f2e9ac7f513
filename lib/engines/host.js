'use strict'

const diagnostics = require('diagnostics_channel')
const { debuglog } = require('util')
const { remember } = require('./drain')
const { error } = require('./errors')
const { hook, kUpgrade } = require('./upgrade')
const { throwLater } = require('../shared/timers')

const debug = debuglog('kone:application')
const debugging = debug.enabled // NODE_DEBUG is read once, at start

/** An engine's response, as a property of node's: the app may use another copy of kone than the server. */
const kOutgoing = Symbol.for('kone.outgoing')

/**
 * Of an app: it was made in development. Only the constructor reads `app.env`, as in Koa, because egg's class replaces
 * it by a getter that is deprecated.
 */
const IN_DEVELOPMENT = Symbol('application#inDevelopment')

/** Name of the method of ctx.request that checks what names the host. */
const NAMES_HOST = Symbol('request#namesHost')

/** Publishes each request as `{ ctx, app }`; see trace(). */
const channel = diagnostics.tracingChannel('kone:request')
const kThrown = Symbol('kone.thrown')

const HTTP1_OFF = 'app.http1 is off'
const warned = new Set()
const fallback = diagnostics.channel('kone:fallback') // what `kone try` subscribes to

/** The app as an engine sees it. */
class Host {
  /**
   * @param {any} core what Application brings: its `createContext` and `handleRequest` (an app that replaces them
   *   expects node's own objects), `familiesOf(app)`, and `watch(app)`, which composes the middleware in development
   * @param {(req: object, res: object) => Promise<void>} [listener] what the app's own `callback` gave: it gets each
   *   request, with node's objects
   * @param {Function} [attach] `(server, host) => void`: installs an engine on a server of node's that has called the
   *   listener, if it can
   */
  constructor (app, core, listener, attach) {
    this.app = app
    this.core = core
    this.attach = attach
    this.isKones = listener === undefined
    this.met = new WeakSet() // sockets that had a request, and servers whose front calls handedOver()
    this.fn = app[IN_DEVELOPMENT] ? core.watch(app) : app.compose(app.middleware)
    this.listener = listener ?? ((req, res) => {
      const promise = this.onRequest(req, res)
      // Promises that the app returns are of its class; inside it uses native ones, which keep async contexts.
      return app.Promise === Promise ? promise : app.Promise.resolve(promise)
    })
  }

  /**
   * Run a request.
   *
   * @param {import('./contract').Incoming} incoming
   * @return {Promise} rejects only if a ctx.onerror of the app's own throws
   */
  dispatch (incoming, outgoing) {
    const { app, core } = this
    if (this.isKones && app.createContext === core.createContext && app.handleRequest === core.handleRequest) {
      return this.serve(new (core.familiesOf(app).EngineContext)(incoming, outgoing))
    }
    const req = incoming.materialize()
    const res = outgoing.materialize()
    return this.isKones ? this.serve(app.createContext(req, res)) : this.listener(req, res)
  }

  /** Run a request of node's, or of another engine by the 'request' event, if other code sees all requests. */
  onRequest (req, res) {
    const outgoing = res[kOutgoing]
    if (outgoing === undefined) {
      if (this.meet(req) && req.socket.server[kUpgrade].detach(req, res)) return Promise.resolve()
    } else if (outgoing.res === res && outgoing.incoming.req === req) {
      // That code may pass objects of its own, which inherit from the engine's.
      return this.dispatch(outgoing.incoming, outgoing)
    }
    return this.serve(this.app.createContext(req, res))
  }

  /**
   * Only here an app of `callback()` learns which server calls it. Once per connection, as a look costs 0.2 µs.
   *
   * @return {boolean} whether this request may be a handshake that nobody has given to the app yet
   */
  meet ({ socket, httpVersionMajor }) {
    const server = socket?.server
    if (httpVersionMajor !== 1 || !server?.listening || this.met.has(server) || this.met.has(socket)) return false
    this.met.add(socket)
    if (this.attach !== undefined && this.app.http1) this.attach(server, this)
    return hook(server, this)
  }

  /** The server listens. With a front it needs this later: see handedOver(). */
  takeUpgrades (server) {
    hook(server, this)
  }

  /**
   * The front has a handshake, and no other code sees it.
   *
   * @return {object|undefined} undefined if node:http gets it
   */
  takesHandshake (server, incoming) {
    const { app, isKones, core } = this
    const isPlain = isKones && app.createContext === core.createContext && app.handleRequest === core.handleRequest
    return isPlain && hook(server, this) ? server[kUpgrade].take(this, incoming) : undefined
  }

  /**
   * Does the app have a route for this handshake? If it has none that is visible, there may be one inside of another
   * function (koa-mount, koa-compose).
   *
   * @param {{ url: string, headers: object }} req
   * @param {boolean} isAlone nobody else listens for handshakes
   */
  claims (req, isAlone) {
    const places = this.app.middleware.filter(fn => fn[kUpgrade] === true || fn.router?.stack.some(accepts))
    if (places.length === 0) return isAlone
    const path = pathOf(req.url)
    return places.some(({ router }) => router === undefined || routes(router, path, req.headers))
  }

  serve (ctx) {
    const { app } = this
    const fn = ctx.incoming.namesHost || ctx.request[NAMES_HOST]() ? this.fn : refuse
    if (debugging) debug('%s %s', ctx.method, ctx.url)
    const traced = isTraced()
    if (!traced && !app.ctxStorage) return app.handleRequest(ctx, fn)
    const handle = () => app.handleRequest(ctx, fn)
    const run = traced ? () => trace({ ctx, app }, handle) : handle
    return app.ctxStorage ? app.ctxStorage.run(ctx, run) : run()
  }

  /**
   * The connection failed. What a ctx.onerror of the app's own throws must not keep 'close' from being emitted.
   *
   * @param {object|null} ctx the owner of its first pending response
   */
  failed (ctx, err) {
    try {
      ctx?.onerror(err)
    } catch (thrown) {
      throwLater(thrown)
    }
  }

  /** From now on node:http serves this socket. */
  handedOver (server, socket) {
    this.met.add(server)
    remember(server, socket)
    hook(server, this)
  }

  /** @return {string} why the app needs node:http, or '' */
  reason () {
    return this.app.http1 ? '' : HTTP1_OFF
  }

  /**
   * Requests go to node:http. The only visible difference is CPU use: reported once per process and reason.
   *
   * @param {boolean} isAgents an agent is the reason: in production nobody would remove it
   */
  fellBack (reason, isAgents) {
    if (fallback.hasSubscribers) fallback.publish({ reason })
    const { NODE_ENV } = process.env
    if (reason === HTTP1_OFF || this.app.silent || NODE_ENV === 'test' || warned.has(reason)) return
    if (isAgents && NODE_ENV === 'production') return
    warned.add(reason)
    process.emitWarning(`requests go through node:http, at more CPU each, because of ${reason}`, {
      code: 'KONE_WARN_FALLBACK',
      detail: 'See "When node:http is used instead" in lib/front/README.md of kone. app.silent = true turns this off.'
    })
  }
}

/** As ctx.path, also of a target in absolute form; it does not throw. */
function pathOf (url) {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] || '/'
}

function accepts ({ stack }) {
  return stack.some(fn => fn[kUpgrade] === true)
}

/** Of a router of kone, koa-router or @koa/router. */
function routes (router, path, headers) {
  if (router.host && !router.matchHost?.(headers.host)) return false
  return router.stack.some(layer => accepts(layer) && (layer.methods.length === 0 || layer.methods.includes('GET')) && layer.match(path))
}

/** In place of the middleware: RFC 9112, 3.2. */
async function refuse () {
  throw error('KONE_ERR_HOST', 400, 'the request names no host')
}

/** Whether the channel `kone:request` has a subscriber. Without one, this check is the only cost. */
function isTraced () {
  return channel.start.hasSubscribers || channel.end.hasSubscribers ||
    channel.asyncStart.hasSubscribers || channel.asyncEnd.hasSubscribers ||
    channel.error.hasSubscribers
}

/**
 * Run one request and publish it. `error` is published if a function of the app threw (see `threw`), `asyncEnd` when
 * the response was decided; `ctx.status` is known at both.
 *
 * @return {Promise} fulfilled, whatever was thrown
 */
function trace (message, run) {
  const { ctx } = message
  ctx[kThrown] = null
  const traced = () => run().then(() => {
    if (ctx[kThrown] !== null) throw ctx[kThrown]
  })
  return channel.tracePromise(traced, message).catch(() => {})
}

/** Note the first error that a request threw, if it is traced. The app has responded to it already. */
function threw (ctx, err) {
  if (isTraced() && ctx[kThrown] === null) ctx[kThrown] = err
}

module.exports = { Host, IN_DEVELOPMENT, NAMES_HOST, threw }
