'use strict'

const { AsyncLocalStorage } = require('async_hooks')
const { channel, subscribe } = require('diagnostics_channel')
const Emitter = require('events')
const http = require('http')
const { join } = require('path')
const util = require('util')
const { Closing, close } = require('./core/closing')
const compose = require('./compose')
const context = require('./context')
const familiesOf = require('./core/create-context')
const cut = require('./shared/cut')
const { track } = require('./engines/drain')
const { Host, IN_DEVELOPMENT, threw } = require('./engines/host')
const { ENGINE } = require('./engines/node')
const { kUpgrade } = require('./engines/upgrade')
const { isError, toError } = require('./shared/error-path')
const { httpErrors } = require('./core/errors')
const final = require('./final')
const { convert, isGeneratorFunction } = require('./core/generator')
const only = require('./shared/only')
const lazy = require('./shared/lazy')
const { ROOT } = require('./shared/places')
const { elsewhere } = require('./shared/runtime')
const request = require('./request')
const respond = require('./respond')
const response = require('./response')
const { CLOSE, INJECT, INJECT_WEBSOCKET, ON_CLOSE, isStorage, settingsOf } = require('./core/settings')
const { given, misuse } = require('./shared/usage-error')

const deprecate = lazy(() => require('depd')('koa'))

const created = channel('kone:application') // what `kone dev` and `kone routes` subscribe to
const debug = util.debuglog('kone:application')
const debugging = debug.enabled // NODE_DEBUG is read once, at start

const SIGNAL = /^SIG[A-Z\d]+$/

const SERVERS = Symbol('application#servers')
const CLOSING = Symbol('application#closing')

/** A method of a middleware (health) that `use()` calls with the app. Registered: the set may be another copy. */
const USED = Symbol.for('kone.used')

/** The listeners that `app.callback()` made → their hosts. */
const hosts = new WeakMap()

/**
 * An application: middleware, settings and the prototypes of what each request gets.
 *
 *    const Kone = require('kone')
 *    const app = new Kone()
 *    app.use(ctx => { ctx.body = 'Hello World' })
 *    app.listen(3000)
 *
 * The class has Koa's name, because APM tools look for it.
 *
 * @api public
 */
class Application extends Emitter {
  /**
   * @param {object} [options] see core/settings.js
   * @throws {TypeError} naming the option
   */
  constructor (options) {
    super()
    options = options || {}
    const settings = settingsOf(options)
    this.proxy = settings.proxy
    this.subdomainOffset = settings.subdomainOffset
    this.proxyIpHeader = settings.proxyIpHeader
    this.maxIpsCount = settings.maxIpsCount
    const env = settings.env || process.env.NODE_ENV || 'development'
    this.env = env
    const inDevelopment = env === 'development'
    this.compose = settings.compose || compose
    this.Promise = settings.Promise || Promise
    this.http1 = settings.http1
    if (settings.keys) this.keys = settings.keys
    this.middleware = []
    this.finals = []
    this.context = Object.create(context)
    this.request = Object.create(request)
    this.response = Object.create(response, inDevelopment ? require('./core/development').watchers(this, response) : undefined)
    this[util.inspect.custom] = this.inspect
    // Not enumerable: an app is printed and compared by its settings.
    Object.defineProperties(this, {
      [SERVERS]: { value: new Set() },
      [CLOSING]: { value: new Closing(this) },
      [IN_DEVELOPMENT]: { value: inDevelopment }
    })
    // a property of each app, not a method: Deno and Bun take it from a default export, and call it without the app
    if (!('fetch' in this)) Object.defineProperty(this, 'fetch', { value: makeFetch(this), writable: true })
    if (settings.asyncLocalStorage) {
      const { Promise, asyncLocalStorage: storage } = settings
      if (typeof Promise?.config === 'function') Promise.config({ asyncHooks: true }) // bluebird
      this.ctxStorage = null
      onceRunning(() => { this.ctxStorage = isStorage(storage) ? storage : new AsyncLocalStorage() })
    }
    if (created.hasSubscribers) created.publish({ app: this, options })
  }

  /**
   * Serve on a port, a path or a handle, as `http.Server.listen`.
   *
   *    app.listen(3000, () => console.log('http://localhost:3000'))
   *
   * @param {...*} args
   * @return {http.Server} a genuine one
   */
  listen (...args) {
    debug('listen')
    return this.attach(http.createServer()).listen(...args)
  }

  /**
   * Serve on a server that was created elsewhere, as `listen` does on the one that it creates.
   *
   *    app.attach(https.createServer({ key, cert })).listen(443)
   *
   * @param {http.Server|https.Server} server
   * @return {http.Server|https.Server} the same
   * @throws {TypeError} if it is not a server
   */
  attach (server) {
    if (!server || typeof server.on !== 'function' || typeof server.listen !== 'function') {
      throw misuse('application', `app.attach(server): server must be an http.Server, not ${given(server)}`)
    }
    const listener = this.callback()
    server.on('request', listener)
    this[SERVERS].add(server)
    server.on('close', () => this[SERVERS].delete(server))
    server.on('listening', () => this[SERVERS].add(server)) // maybe again
    if (attachFront(this, server, listener)) return server
    track(server)
    const takeUpgrades = () => hostOf(this, listener).takeUpgrades(server)
    if (server.listening) takeUpgrades()
    else server.once('listening', takeUpgrades)
    return server
  }

  /**
   * Stop: accept nothing new, finish the requests in flight, end kept connections, call the functions of `onClose` when
   * the last connection is closed, and resolve.
   *
   *    process.once('SIGTERM', () => app.close())
   *
   * @param {object} [options] see core/settings.js
   * @return {Promise}
   * @throws {TypeError} naming the option
   */
  close (options) {
    if (typeof options === 'string' && SIGNAL.test(options)) options = undefined // process.once('SIGTERM', app.close.bind(app))
    return this.Promise.resolve(close([this[CLOSING]], this[SERVERS], CLOSE.check(options)))
  }

  /**
   * Add a function that is called and awaited when the app is stopped and the last response was sent: by `close()`, and
   * at the end of each worker. The one that was added last is called first.
   *
   *    app.onClose(() => redis.quit())
   *
   * @param {Function} fn `() => *`
   * @param {object} [options] see core/settings.js
   * @return {Application} self
   * @throws {TypeError} if `fn` is not a plain or async function
   */
  onClose (fn, options) {
    if (typeof fn !== 'function' || isGeneratorFunction(fn)) {
      throw misuse('application', `app.onClose(fn): fn must be a plain or async function, not ${given(fn)}`)
    }
    this[CLOSING].add(fn, ON_CLOSE.check(options).before)
    return this
  }

  /**
   * Send a request through the app without a socket; `app.inject.websocket(path, options)` opens a WebSocket.
   *
   *    const res = await app.inject({ method: 'POST', url: '/', body: 'a=1' })
   *    res.status // 200
   *
   * @return {Function} `what => Promise`: see engines/memory
   */
  get inject () {
    const call = (name, args) => this.Promise.resolve(require('./engines/memory')[name](this, SERVING, ...args))
    const inject = (...args) => call('inject', args)
    inject.websocket = (...args) => call('websocket', args)
    return inject
  }

  set inject (value) {
    Object.defineProperty(this, 'inject', { value, configurable: true, writable: true })
  }

  /** @return {object} the settings as plain data */
  toJSON () {
    return only({ subdomainOffset: this.subdomainOffset, proxy: this.proxy, env: this.env })
  }

  /** @return {object} what `util.inspect` shows */
  inspect () {
    return this.toJSON()
  }

  /**
   * Add a middleware. Generator functions are converted, as in Koa 2.
   *
   *    app.use(async (ctx, next) => {
   *      const start = Date.now()
   *      await next()
   *      ctx.set('X-Response-Time', `${Date.now() - start}ms`)
   *    })
   *
   * @param {Function} fn `(ctx, next) => *`
   * @return {Application} self
   * @throws {TypeError} if `fn` is not a function
   */
  use (fn, ...others) {
    if (typeof fn !== 'function') {
      // @ts-expect-error -- any value
      const hint = typeof fn?.routes === 'function'
        ? ' A router has one: app.use(router.routes())'
        : fn?.[0] === '/' ? ' Paths are for the router: router.use(path, fn)' : ''
      throw new TypeError(`middleware must be a function!${hint}`)
    }
    if (isFactory(fn)) throw new TypeError(`${fn.name} makes a middleware: app.use(${fn.name}())`)
    if (isGeneratorFunction(fn)) {
      // called here because depd warns once per call site outside of this file
      deprecate()('Support for generators will be removed in v3. ' +
        'See the documentation for examples of how to convert old middleware ' +
        'https://github.com/koajs/koa/blob/master/docs/migration.md')
      fn = convert(fn)
    }
    if (others.length > 0 && this[IN_DEVELOPMENT]) require('./core/development').warnOfOthers(this, others)
    debug('use %s', fn._name || fn.name || '-')
    this.middleware.push(fn)
    fn[USED]?.(this)
    return this
  }

  /**
   * Add a function that is called after all middleware has returned without an error, and before the response is
   * written: in order, without `next`. Synchronous unless one returns a promise; its errors are handled as any others.
   *
   *    app.final(ctx => ctx.set('X-Served-By', 'kone'))
   *
   * @param {Function} fn `(ctx) => *`
   * @return {Application} self
   * @throws {TypeError} if `fn` is not a plain or async function
   */
  final (fn) {
    if (typeof fn !== 'function' || isGeneratorFunction(fn)) {
      throw misuse('compose-and-final', `app.final(fn): fn must be a plain or async function, not ${given(fn)}`)
    }
    debug('final %s', fn.name || '-')
    this.finals.push(fn)
    return this
  }

  /**
   * A listener for `http.createServer`, `https.createServer` and `http2.createServer`.
   *
   *    https.createServer(options, app.callback()).listen(443)
   *
   * @return {(req: http.IncomingMessage, res: http.ServerResponse) => Promise<void>}
   */
  callback () {
    const host = new Host(this, CORE, undefined, isFrontOff() ? undefined : attachAtRequest)

    if (!this.listenerCount('error')) this.on('error', this.onerror)

    hosts.set(host.listener, host)
    if (globalThis[kUpgrade] !== undefined) watchConnections()
    return host.listener
  }

  /**
   * With the option `asyncLocalStorage`: the context of the request that this code runs for.
   *
   * @return {object | undefined}
   */
  get currentContext () {
    if (this.ctxStorage) return this.ctxStorage.getStore()
  }

  /**
   * Run one request: middleware, functions of `app.final`, response. Responds one microtask after the middleware has
   * returned, as Koa does in a `.then`: a body that is set in that microtask still counts.
   *
   * @param {object} ctx
   * @param {Function} fnMiddleware composed
   * @return {Promise}
   * @api private
   */
  handleRequest (ctx, fnMiddleware) {
    ctx.outgoing.statusCode = 404
    ctx[ENGINE].watch?.(ctx)
    if (this.listenerCount('finish') > 0) ctx.onFinished(() => this.emit('finish', ctx))

    // `bind` instead of closures: V8 inlines it
    const failed = fail.bind(null, ctx)
    try {
      return fnMiddleware(ctx).then(finish.bind(null, ctx), failed)
    } catch (err) {
      // a custom compose may throw, and `then` of the Proxy of a promise does
      return Promise.reject(err).catch(failed)
    }
  }

  /**
   * The context of one request.
   *
   * @param {http.IncomingMessage} req
   * @param {http.ServerResponse} res
   * @return {object} ctx
   * @api private
   */
  createContext (req, res) {
    return new (familiesOf(this).Context)(req, res)
  }

  /**
   * Default handler of 'error': prints it, unless the client may read its message.
   *
   * @param {Error} err
   * @throws {TypeError} for a value that is not an Error
   * @api private
   */
  onerror (err) {
    if (!isError(err)) throw new TypeError(util.format('non-error thrown: %j', err))

    let text
    try {
      if (err.status === 404 || err.expose) return
      text = String(err.stack || err.toString())
    } catch {
      text = 'an error whose getters throw'
    }
    // @ts-expect-error -- set by the app
    if (this.silent) return

    console.error(`\n${text.replace(/^/gm, '  ')}\n`)
  }

  /** @return {Function} a middleware that sets `app.currentContext`, for apps that are mounted in another one */
  createAsyncCtxStorageMiddleware () {
    const app = this
    return async function asyncCtxStorage (ctx, next) {
      await app.ctxStorage.run(ctx, next)
    }
  }
}

// The functions of `app.final`, then the response. Returns a promise if it has to wait; never throws.
function finish (ctx) {
  try {
    const { finals } = ctx.app
    if (finals.length > 0 && ctx.respond !== false && !ctx.headerSent) {
      const waiting = final(finals, ctx)
      if (waiting !== undefined) return waiting.then(() => respond(ctx)).catch(err => fail(ctx, err))
    }
    respond(ctx)
    if (debugging) debug('%s %s: %d', ctx.method, ctx.originalUrl, ctx.status)
  } catch (err) {
    return fail(ctx, err)
  }
}

// Unlike ctx.onerror it treats `throw null` as an error.
function fail (ctx, thrown) {
  if (debugging) debug('%s %s threw %s', ctx.method, ctx.originalUrl, thrown)
  const err = toError(thrown)
  threw(ctx, err)
  const isKones = isKonesOnerror(ctx.onerror)
  // begun by code that writes to ctx.res: onerror cannot finish it
  const hasBegun = isKones && ctx.respond !== false && ctx.outgoing.headersSent
  try {
    ctx.onerror(isKones ? err : thrown ?? err)
  } catch (err) {
    return Promise.reject(err) // a ctx.onerror of the app's own
  }
  if (hasBegun && ctx.response.writable) cut(ctx[ENGINE].sink(ctx), err)
}

// Is it the app's own? A KeptHeaders (shared/error-path.js) wraps it, and does not replace it.
function isKonesOnerror (onerror) {
  return (onerror.wraps ?? onerror) === context.onerror
}

/** Before other code (newrelic) replaces one of them: a host compares what an app has with these. */
const { callback, createContext, handleRequest } = Application.prototype
const CORE = { createContext, handleRequest, familiesOf, watch: app => require('./core/development').watch(app) }

// A function of the middleware set that app.use() got without a call.
function isFactory (fn) {
  return ROOT !== null && require.cache?.[join(ROOT, 'middleware', fn.name, 'index.js')]?.exports === fn
}

function attachFront (app, server, listener) {
  if (!app.http1 || isFrontOff()) return false
  return require('./front').attach(server, hostOf(app, listener))
}

/** For app.inject(). `app.close()` ends WebSockets in memory as those of other servers. */
const SERVING = {
  INJECT,
  INJECT_WEBSOCKET,
  attachFront,
  takeUpgrades (app, server, listener) {
    app[SERVERS].add(server)
    track(server)
    hostOf(app, listener).takeUpgrades(server)
  }
}

// Of a listener that app.callback() made, or that the app's own `callback` gave.
function hostOf (app, listener) {
  return hosts.get(listener) ?? new Host(app, CORE, listener)
}

let isWatching = false
const known = new WeakSet() // servers that have had a connection

// If others listen for 'upgrade', a handshake is no request that would show its server to the host of callback(). Node
// publishes the server's first connection before that.
function watchConnections () {
  if (!isWatching) subscribe('net.server.socket', meet)
  isWatching = true
}

function meet ({ socket: { server } }) {
  if (known.has(server)) return
  known.add(server)
  for (const listener of server.listeners('request')) hosts.get(listener)?.takeUpgrades(server)
}

/** Bun and Deno have node's http modules, and not what the front takes from inside of them. */
function isFrontOff () {
  return process.env.KONE_HTTP1 === 'off' || elsewhere !== ''
}

// Loaded at the first request of a server, because many listeners get none: those for serverless functions.
function attachAtRequest (server, host) {
  require('./front').attachAtRequest(server, host)
}

// `app.fetch(request, info)`, loaded when it is first called.
function makeFetch (app) {
  let handle
  return function fetch (request, info) {
    handle ??= require('./engines/fetch')(app.callback === callback ? new Host(app, CORE) : hostOf(app, app.callback()))
    return handle(request, info)
  }
}

// A V8 startup snapshot cannot hold an AsyncLocalStorage: wait until the snapshot is started.
function onceRunning (fn) {
  const v8 = require('v8')
  if (v8.startupSnapshot?.isBuildingSnapshot?.()) v8.startupSnapshot.addDeserializeCallback(fn)
  else fn()
}

module.exports = Application
module.exports.default = module.exports.Kone = Application
module.exports.compose = compose
// Of http-errors, which takes a fifth of the time of `require('kone')`: loaded at the first read. `import` finds the
// names in the text of this line.
module.exports.HttpError = module.exports.createHttpError = module.exports.isHttpError = undefined
defineLazily('HttpError', () => httpErrors().HttpError)
defineLazily('createHttpError', httpErrors)
defineLazily('isHttpError', () => httpErrors().isHttpError)

// May be assigned to, as Koa's: a subclass then has its own.
function defineLazily (name, get) {
  const set = function (value) {
    // eslint-disable-next-line kone/owners -- `this` is the class that is assigned to
    Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true })
  }
  Object.defineProperty(Application, name, { configurable: true, enumerable: true, get, set })
}
