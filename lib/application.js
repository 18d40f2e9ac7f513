'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')
const { tracingChannel } = require('node:diagnostics_channel')
const Emitter = require('node:events')
const http = require('node:http')
const util = require('node:util')
const v8 = require('node:v8')
const co = require('co')
const deprecate = require('depd')('koa')
const compose = require('./compose')
const context = require('./context')
const { HttpError, createError, isError, toError } = require('./errors')
const final = require('./final')
const inject = require('./inject')
const only = require('./only')
const request = require('./request')
const respond = require('./respond')
const response = require('./response')
const shapes = require('./shapes')
const { checkProxy } = require('./trust')

const debug = util.debuglog('kone:application')
const debugging = debug.enabled // NODE_DEBUG is read once, at start
const channel = tracingChannel('kone:request')
const { ENDED, LOOSE } = compose

const SHAPES = Symbol('application#shapes')
const SERVERS = Symbol('application#servers')

/**
 * An application: middleware, settings and the prototypes of what each request gets.
 *
 *    const Kone = require('kone')
 *    const app = new Kone()
 *    app.use(ctx => { ctx.body = 'Hello World' })
 *    app.listen(3000)
 *
 * The class is named as Koa's, by which APM tools find it.
 */
class Application extends Emitter {
  /**
   * @param {Object} [options]
   * @param {String} [options.env=NODE_ENV or 'development']
   * @param {String[]|Keygrip} [options.keys] to sign cookies with
   * @param {Boolean|Number|String[]} [options.proxy=false] believe forwarded headers: of
   *   everybody (true), of so many hops, or of these addresses and ranges
   * @param {String} [options.proxyIpHeader='X-Forwarded-For']
   * @param {Number} [options.maxIpsCount=0] addresses read from it, 0 for all
   * @param {Number} [options.subdomainOffset=2]
   * @param {Boolean|AsyncLocalStorage} [options.asyncLocalStorage] keep `app.currentContext`
   * @param {Function} [options.compose] in place of kone's own
   * @param {Function} [options.Promise] the class of the promises that the app returns
   * @param {Boolean} [options.http1=true] answer plain HTTP/1.1 without node:http where possible
   * @throws {TypeError} naming the option
   * @api public
   */
  constructor (options) {
    super()
    options = options || {}
    checkOptions(options)
    this.proxy = options.proxy || false
    this.subdomainOffset = options.subdomainOffset || 2
    this.proxyIpHeader = options.proxyIpHeader || 'X-Forwarded-For'
    this.maxIpsCount = options.maxIpsCount || 0
    this.env = options.env || process.env.NODE_ENV || 'development'
    this.compose = options.compose || compose
    this.Promise = options.Promise || Promise
    this.http1 = options.http1 !== false
    if (options.keys) this.keys = options.keys
    this.middleware = []
    this.finals = []
    this.context = Object.create(context)
    this.request = Object.create(request)
    this.response = Object.create(response)
    this[util.inspect.custom] = this.inspect
    hide(this, SHAPES, null)
    hide(this, SERVERS, new Set())
    if (!('fetch' in this)) hide(this, 'fetch', makeFetch(this))
    if (options.asyncLocalStorage) this.ctxStorage = makeStorage(this, options.asyncLocalStorage)
  }

  /**
   * Serve on a port, a path or a handle, as `http.Server.listen`.
   *
   *    app.listen(3000, () => console.log('http://localhost:3000'))
   *
   * @param {...*} args
   * @return {http.Server} a genuine one
   * @api public
   */
  listen (...args) {
    debug('listen')
    return this.attach(http.createServer()).listen(...args)
  }

  /**
   * Serve on a server that was made elsewhere, with all that `listen` does.
   *
   *    app.attach(https.createServer({ key, cert })).listen(443)
   *
   * @param {http.Server|https.Server} server
   * @return {http.Server|https.Server} the same
   * @throws {TypeError} if it is no server
   * @api public
   */
  attach (server) {
    if (!server || typeof server.on !== 'function' || typeof server.listen !== 'function') {
      throw new TypeError('app.attach(server): server must be an http.Server')
    }
    const listener = this.callback()
    server.on('request', listener)
    this[SERVERS].add(server)
    server.once('close', () => this[SERVERS].delete(server))
    if (this.http1 && process.env.KONE_HTTP1 !== 'off') attachFront(this, server, listener)
    else require('./http1/close').track(server)
    return server
  }

  /**
   * Stop: accept nothing new, answer what is in flight, end kept connections, resolve when the
   * last one is gone.
   *
   *    process.once('SIGTERM', () => app.close())
   *
   * @param {{ timeout?: Number, grace?: Number }} [options] in ms: what is not done after
   *   `timeout` (10000) is cut; a silent kept connection is left `grace` (600) to ask once more
   * @return {Promise}
   * @api public
   */
  close (options) {
    const { close } = require('./http1/close')
    const closing = [...this[SERVERS]].map(server => close(server, options))
    return this.Promise.resolve(Promise.all(closing).then(() => {}))
  }

  /**
   * Send a request through the app without a socket.
   *
   *    const res = await app.inject({ method: 'POST', url: '/', body: 'a=1' })
   *    res.status // 200
   *
   * @param {String|Object|Request} what a url, `{ method, url, headers, body }`, where an object
   *   as body is sent as JSON, or a web Request
   * @return {Promise<Object>} `{ status, message, headers, body, text(), json() }`, body as a Buffer
   * @api public
   */
  inject (what) {
    return this.Promise.resolve(inject(this, what))
  }

  /**
   * The settings as plain data.
   *
   * @return {Object}
   * @api public
   */
  toJSON () {
    return only({ subdomainOffset: this.subdomainOffset, proxy: this.proxy, env: this.env })
  }

  /**
   * What `util.inspect` shows.
   *
   * @return {Object}
   * @api public
   */
  inspect () {
    return this.toJSON()
  }

  /**
   * Add a middleware to the onion. Generator functions are converted, as in Koa 2.
   *
   *    app.use(async (ctx, next) => {
   *      const start = Date.now()
   *      await next()
   *      ctx.set('X-Response-Time', `${Date.now() - start}ms`)
   *    })
   *
   * @param {Function} fn `(ctx, next) => *`
   * @return {Application} self
   * @throws {TypeError} if `fn` is no function
   * @api public
   */
  use (fn) {
    if (typeof fn !== 'function') throw new TypeError('middleware must be a function!')
    if (isGeneratorFunction(fn)) {
      deprecate('Support for generators will be removed in v3. ' +
        'See the documentation for examples of how to convert old middleware ' +
        'https://github.com/koajs/koa/blob/master/docs/migration.md')
      fn = convert(fn)
    }
    debug('use %s', fn._name || fn.name || '-')
    this.middleware.push(fn)
    return this
  }

  /**
   * Add a function to the flat stage after the onion: called in order, without `next`, when the
   * onion unwound without an error, before the answer is written. Synchronous unless one returns
   * a promise; a throw is answered as any error.
   *
   *    app.final(ctx => ctx.set('X-Served-By', 'kone'))
   *
   * @param {Function} fn `(ctx) => *`
   * @return {Application} self
   * @throws {TypeError} if `fn` is no plain or async function
   * @api public
   */
  final (fn) {
    if (typeof fn !== 'function' || isGeneratorFunction(fn)) {
      throw new TypeError('app.final(fn): fn must be a plain or async function')
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
   * @return {Function} `(req, res) => Promise`
   * @api public
   */
  callback () {
    const fn = this.compose(this.middleware)

    if (!this.listenerCount('error')) this.on('error', this.onerror)

    return (req, res) => own(this, serve(this, this.createContext(req, res), fn))
  }

  /**
   * The context of the request that is being handled here, with `asyncLocalStorage` on.
   *
   * @return {Object|undefined}
   * @api public
   */
  get currentContext () {
    if (this.ctxStorage) return this.ctxStorage.getStore()
  }

  /**
   * Run one request through the rooms: onion, final stage, answer.
   *
   * @param {Object} ctx
   * @param {Function} fnMiddleware composed
   * @return {Promise}
   * @api private
   */
  handleRequest (ctx, fnMiddleware) {
    ctx.outgoing.statusCode = 404
    watchConnection(ctx)
    if (this.listenerCount('finish') > 0) ctx.onFinished(() => this.emit('finish', ctx))

    let unwound
    try {
      unwound = fnMiddleware(ctx)
    } catch (err) {
      return fail(ctx, err) // a custom compose may throw
    }
    if (unwound === ENDED) return finish(ctx)
    if (unwound === LOOSE) {
      queueMicrotask(() => finish(ctx))
      return ENDED
    }
    return unwound.then(finish.bind(null, ctx), fail.bind(null, ctx)) // bound, as in compose.js
  }

  /**
   * The context of one request.
   *
   * @param {http.IncomingMessage} req
   * @param {http.ServerResponse} res
   * @return {Object} ctx
   * @api private
   */
  createContext (req, res) {
    return shapesOf(this).node(req, res)
  }

  /**
   * Default handler of 'error': prints it, unless a client may read it anyway.
   *
   * @param {Error} err
   * @throws {TypeError} for what is no Error
   * @api private
   */
  onerror (err) {
    if (!isError(err)) throw new TypeError(util.format('non-error thrown: %j', err))

    if (err.status === 404 || err.expose) return
    if (this.silent) return

    const text = err.stack || err.toString()
    console.error(`\n${text.replace(/^/gm, '  ')}\n`)
  }

  /**
   * A middleware that sets `app.currentContext`, for apps that are mounted in another one.
   *
   * @return {Function}
   * @api public
   */
  createAsyncCtxStorageMiddleware () {
    const app = this
    return async function asyncCtxStorage (ctx, next) {
      await app.ctxStorage.run(ctx, async () => {
        return await next()
      })
    }
  }
}

const { callback, createContext, handleRequest } = Application.prototype

function shapesOf (app) {
  let made = app[SHAPES]
  if (made === null || made.context !== app.context || made.request !== app.request ||
      made.response !== app.response) {
    made = app[SHAPES] = shapes(app)
  }
  return made
}

function serve (app, ctx, fn) {
  if (debugging) debug('%s %s', ctx.method, ctx.url)
  if (isTraced()) return trace(app, ctx, fn)
  if (!app.ctxStorage) return app.handleRequest(ctx, fn)
  return app.ctxStorage.run(ctx, () => app.handleRequest(ctx, fn))
}

// The promise that leaves the app is of its own class; inside, native ones keep async contexts.
function own (app, promise) {
  return app.Promise === Promise ? promise : app.Promise.resolve(promise)
}

// The flat stage, then the answer. Returns a promise, never throws.
function finish (ctx) {
  try {
    const { finals } = ctx.app
    if (finals.length > 0 && ctx.respond !== false && !ctx.headerSent) {
      const waiting = final(finals, ctx)
      if (waiting !== undefined) return waiting.then(() => respond(ctx)).catch(err => fail(ctx, err))
    }
    respond(ctx)
    if (debugging) debug('%s %s: %d', ctx.method, ctx.originalUrl, ctx.status)
    return ENDED
  } catch (err) {
    return fail(ctx, err)
  }
}

// Unlike ctx.onerror it takes `throw null` for the error it is.
function fail (ctx, thrown) {
  if (debugging) debug('%s %s threw %s', ctx.method, ctx.originalUrl, thrown)
  try {
    ctx.onerror(toError(thrown))
    return ENDED
  } catch (err) {
    return Promise.reject(err) // a ctx.onerror of the app's own
  }
}

const CTX = Symbol('kone#ctx')
const WATCHED = Symbol('kone#watched')

// One listener for all requests of a connection does what Koa's per-request listeners are for,
// at no cost per request. The front tells of its connections itself.
function watchConnection (ctx) {
  const { outgoing } = ctx
  if (outgoing.owner === ctx) return
  const { socket } = ctx.incoming
  if (!socket || typeof socket.on !== 'function') return
  if (ctx.incoming.httpVersionMajor >= 2) {
    ctx.onFinished(err => ctx.onerror(err))
    return
  }
  outgoing[CTX] = ctx
  if (socket[WATCHED] === undefined) {
    socket[WATCHED] = true
    socket.once('error', connectionFailed)
  }
}

function connectionFailed (err) {
  const outgoing = this._httpMessage // the answer under way, as node keeps it
  if (outgoing && outgoing[CTX]) outgoing[CTX].onerror(err)
}

function attachFront (app, server, listener) {
  const fn = app.compose(app.middleware)
  require('./http1').attach(server, {
    listener,

    dispatch (incoming, outgoing) {
      const ctx = outgoing.owner = shapesOf(app).front(incoming, outgoing)
      serve(app, ctx, fn)
    },

    failed (ctx, err) { ctx.onerror(err) },

    // Whoever replaces these expects node's own objects.
    reason () {
      if (!app.http1) return 'app.http1 is off'
      if (app.createContext !== createContext) return 'app.createContext was replaced'
      if (app.handleRequest !== handleRequest) return 'app.handleRequest was replaced'
      if (app.callback !== callback) return 'app.callback was replaced'
      return ''
    }
  })
}

/**
 * `app.fetch(request, info)`: an own, bound property, because Deno and Bun take an app for a server
 * by it, and Deno not if it is its prototype's. Loaded when it is first called.
 */
function makeFetch (app) {
  let fetch
  return function (request, info) {
    fetch ??= require('./fetch')(fetchHost(app))
    return fetch(request, info)
  }
}

function fetchHost (app) {
  const fn = app.compose(app.middleware)
  return {
    dispatch (incoming, outgoing) {
      const ctx = outgoing.owner = shapesOf(app).front(incoming, outgoing)
      return serve(app, ctx, fn)
    },

    listener () { return app.callback() },

    failed (ctx, err) { ctx?.onerror(err) }, // without one, the listener's own sees to it

    // whoever replaces these expects node's own objects
    needsNode () {
      return app.createContext !== createContext || app.handleRequest !== handleRequest ||
        app.callback !== callback
    }
  }
}

function isTraced () {
  return channel.start.hasSubscribers || channel.end.hasSubscribers ||
    channel.asyncStart.hasSubscribers || channel.asyncEnd.hasSubscribers ||
    channel.error.hasSubscribers
}

/**
 * The same with `kone:request` published: a tracingChannel whose message is `{ ctx, app }`.
 * `error` is published when a middleware or a final threw, `asyncEnd` when the answer was given;
 * the status is known at both.
 */
function trace (app, ctx, fn) {
  const run = () => {
    let thrown
    const { onerror } = ctx
    ctx.onerror = function (err) {
      thrown = thrown || err
      return onerror.call(this, err)
    }
    return app.handleRequest(ctx, fn).then(() => {
      if (thrown) throw thrown
    })
  }
  const traced = () => channel.tracePromise(run, { ctx, app }).catch(() => {})
  return app.ctxStorage ? app.ctxStorage.run(ctx, traced) : traced()
}

function checkOptions (options) {
  checkProxy(options.proxy)
  check(options, 'env', 'a string', value => typeof value === 'string')
  check(options, 'keys', 'a list of strings or a Keygrip', value => {
    return Array.isArray(value) ? value.length > 0 : typeof value.sign === 'function'
  })
  check(options, 'proxyIpHeader', 'a string', value => typeof value === 'string')
  check(options, 'maxIpsCount', 'a number that is not negative', value => value >= 0)
  check(options, 'subdomainOffset', 'a number that is not negative', value => value >= 0)
  check(options, 'compose', 'a function', value => typeof value === 'function')
  check(options, 'http1', 'true or false', value => typeof value === 'boolean')
  check(options, 'asyncLocalStorage', 'true, false or an AsyncLocalStorage', value => {
    return typeof value === 'boolean' || isStorage(value)
  })
  check(options, 'Promise', 'a class of promises', value => {
    return typeof value === 'function' && typeof value.resolve === 'function' &&
      typeof value.prototype?.then === 'function'
  })
}

function check (options, name, what, holds) {
  const value = options[name]
  if (value === undefined || value === null || holds(value)) return
  throw new TypeError(`options.${name} must be ${what}, not ${util.inspect(value)}`)
}

function isStorage (value) {
  return value instanceof AsyncLocalStorage ||
    (typeof value?.run === 'function' && typeof value.getStore === 'function')
}

// A V8 startup snapshot cannot hold a storage; it is made when the snapshot is read.
function makeStorage (app, option) {
  const make = () => isStorage(option) ? option : new AsyncLocalStorage()
  if (typeof app.Promise.config === 'function') app.Promise.config({ asyncHooks: true }) // bluebird
  if (!v8.startupSnapshot?.isBuildingSnapshot?.()) return make()
  v8.startupSnapshot.addDeserializeCallback(() => { app.ctxStorage = make() })
  return null
}

// Not enumerable: an app is printed and compared by its settings.
function hide (app, key, value) {
  Object.defineProperty(app, key, { value, writable: true })
}

const GeneratorFunction = Object.getPrototypeOf(function * () {}).constructor

function isGeneratorFunction (fn) {
  return fn instanceof GeneratorFunction ||
    Object.prototype.toString.call(fn) === '[object GeneratorFunction]'
}

// Koa 1's `function * (next) { yield next }` as `(ctx, next) => Promise`.
function convert (fn) {
  const converted = function (ctx, next) {
    return co.call(ctx, fn.call(ctx, downstream(next)))
  }
  converted._name = fn._name || fn.name
  return converted
}

function * downstream (next) {
  return yield next()
}

module.exports = Application
module.exports.default = Application
module.exports.compose = compose
module.exports.HttpError = HttpError
module.exports.createHttpError = createError
module.exports.isHttpError = createError.isHttpError
