'use strict'

const { Buffer } = require('buffer')
const { readFileSync } = require('fs')
const { STATUS_CODES } = require('http')
const { inspect } = require('util')
const { CHECK } = require('./body-length')
const compose = require('../compose')
const { OF_HTTP1 } = require('../engines/node')
const { isError } = require('../shared/error-path')
const { hintOfExpress, isOfApp, placeIn, placeOfFunction, trace, warnOnce } = require('../shared/places')
const { streams } = require('./stream')
const { setImmediate } = require('../shared/timers')
const { isBlob } = require('../shared/web')

/*
 * Warnings of mistakes that no error reports, with the file and line of the app: in development (`app.env`) only.
 */

/** Requests of an app that are watched: one without NODE_ENV in production pays for these only. */
const WATCHED = 1000

const OF_EXPRESS = 'a middleware gets (ctx, next), not (req, res, next): set ctx.body; koa-connect takes one that is made for Express'

const leftOf = new WeakMap() // app → the requests that are still watched
const callsOf = new WeakMap() // ctx → the calls of its middleware, in the order in which they began

/**
 * What `app.compose(app.middleware)` returns, watched.
 *
 * @param {any} app the application
 * @return {Function} `(ctx, next) => Promise`
 */
function watch (app) {
  const plain = app.compose(app.middleware)
  for (const fn of app.middleware) if (isOfExpress(fn)) warn(app, OF_EXPRESS, placeOfFunction(fn))
  if (app.compose !== compose) return plain
  const watched = compose(recorded(app.middleware))
  if (!leftOf.has(app)) leftOf.set(app, WATCHED)

  return function (ctx, next) {
    const left = leftOf.get(app)
    if (left === 0) return plain(ctx, next)
    leftOf.set(app, left - 1)
    const calls = []
    callsOf.set(ctx, calls)
    const unwound = watched(ctx, next)
    // Once what runs in microtasks has ended. The app handles a rejection itself.
    const judge = err => setImmediate(judgeSafely, ctx, { calls, err, isSent: ctx.headerSent })
    unwound.then(() => judge(), judge)
    return unwound
  }
}

/** The list, whose functions note how they were called. It is read anew by each request, as the list itself. */
function recorded (middleware) {
  const proxies = new WeakMap()
  return new Proxy(middleware, {
    get (list, key) {
      const fn = list[key]
      if (typeof fn !== 'function' || typeof key === 'symbol' || !/^\d+$/.test(key)) return fn
      if (!proxies.has(fn)) proxies.set(fn, new Proxy(fn, { apply: record }))
      return proxies.get(fn)
    }
  })
}

// Nothing is attached to the promises: a rejection that nobody handles stays one.
function record (fn, self, [ctx, next, ...rest]) {
  const call = { fn, result: undefined, threw: false, traced: undefined, following: undefined }
  callsOf.get(ctx)?.push(call)
  const recordedNext = (...args) => {
    call.traced = trace()
    call.following = next(...args)
    return call.following
  }
  try {
    call.result = Reflect.apply(fn, self, [ctx, recordedNext, ...rest])
    return call.result
  } catch (err) {
    call.threw = true
    throw err
  }
}

// What is thrown may throw when it is printed.
function judgeSafely (ctx, outcome) {
  try {
    judgeAll(ctx, outcome)
  } catch {}
}

function judgeAll (ctx, { calls, err, isSent }) {
  const { app } = ctx
  if (err !== undefined && !isError(err)) {
    const call = calls.findLast(call => call.threw || stateOf(call.result) === 'rejected')
    if (call) warn(app, `${inspect(err)} is thrown, which is not an Error`, placeOfHandler(ctx, call.fn, /\bthrow\b/))
  } else if (err !== undefined) {
    judgeError(ctx, err)
  }
  for (const { following, result, traced } of calls) {
    if (stateOf(following) !== 'pending' || stateOf(result) === 'pending') continue
    warn(app, 'next() is neither awaited nor returned, and what it called has not ended when the response is sent', placeIn(traced))
  }
  if (err !== undefined || isSent || !isUntouched(ctx)) return
  const call = calls.findLast(({ result }) => isValue(result))
  if (call === undefined) return judgeLast(ctx, calls)
  const text = typeof call.result === 'function'
    ? 'a middleware returns a function: is it to be called where app.use() gets it?'
    : 'the value that a handler returns is not sent: set ctx.body'
  warn(app, text, placeOfHandler(ctx, call.fn))
}

/** A TypeError of the app that comes from a middleware that is missing, or from code for Express. */
function judgeError (ctx, { message, stack }) {
  const place = placeIn({ stack })
  if (place === null) return
  const { app } = ctx
  if (/\brender is not a function/.test(message)) {
    warn(app, `template() did not run before ${nameOf(ctx)}: app.use(template('views'))`, place)
  } else if (/^res\.\w+ is not a function|^next is not a function/.test(message)) {
    warn(app, OF_EXPRESS, place)
  } else if (/undefined/.test(message)) {
    judgeUndefined(ctx, place)
  }
}

/** What a middleware puts into ctx is undefined at this place. */
function judgeUndefined (ctx, place) {
  const lines = readFileSync(place.file, 'utf8').split('\n')
  // V8's column is that of the property if it is read, and after it if it is written. What is in front of the property,
  // without `ctx.`; undefined if that is not its beginning.
  const owner = /\bctx\.([\w.]+?)\.(?:\w+\s*)?$/.exec(lines[place.row - 1].slice(0, place.column - 1))?.[1]
  if (owner === 'session' && ctx.session === undefined) {
    warn(ctx.app, `session() did not run before ${nameOf(ctx)}: app.use(session())`, place)
  } else if (ctx.request.body === undefined && (owner === undefined || /\bbody\b/.test(owner)) && readsBody(lines, place)) {
    warn(ctx.app, `no body parser ran before ${nameOf(ctx)}: app.use(bodyParser())`, place)
  }
}

/** The innermost middleware that was called ended the request with a 404, perhaps because it forgot next(). */
function judgeLast (ctx, calls) {
  const { app } = ctx
  const last = calls.at(-1)
  if (last === undefined || last.threw || last.following !== undefined || calls.length >= app.middleware.length) return
  const text = `${nameOf(ctx)} is a 404: this middleware neither responds nor calls next(), and others follow`
  warn(app, text, placeOfHandler(ctx, last.fn))
}

function nameOf ({ method, path, _matchedRoute: route }) {
  return `${method} ${typeof route === 'string' ? route : path}`
}

/** Is it about `ctx.request.body` at this place, or in the lines before it? */
function readsBody (lines, { row }) {
  return /\bbody\b/.test(lines[row - 1]) || lines.slice(Math.max(0, row - 6), row).some(line => /\brequest\b.*\bbody\b/.test(line))
}

/** What `app.use()` is given after its middleware. */
function warnOfOthers (app, others) {
  if (!others.some(other => typeof other === 'function')) return
  warn(app, 'app.use(fn) takes one function, and the others are not used: call it for each', placeIn(trace()))
}

/** Is it written for Express, by the names of its parameters? */
function isOfExpress (fn) {
  const pattern = /^(?:async )?(?:function\b[^(]*)?\(\s*_?(?:req|request)\s*,/
  return typeof fn === 'function' && fn.length >= 2 && pattern.test(String(fn))
}

/** Neither body nor status was set: the response is the 404 of a request that nothing has handled. */
function isUntouched (ctx) {
  const { response } = ctx
  return ctx.respond !== false && response.status === 404 && response.body === undefined && !response._explicitStatus
}

function stateOf (value) {
  if (!(value instanceof Promise)) return undefined
  return /^Promise \{\s+<(pending|rejected)>/.exec(show(value))?.[1] ?? 'fulfilled'
}

// Whether it was meant as a body: not undefined, and no flag.
function isValue (result) {
  if (result instanceof Promise) return !/^Promise \{\s+(?:undefined|null|true|false|<(?:pending|rejected)>|\w*Function|\[Function)/.test(show(result))
  return result !== undefined && result !== null && typeof result !== 'boolean'
}

// A promise with its value, which V8 shows without a handler: one would hide that a rejection is not handled.
function show (promise) {
  return inspect(promise, { depth: 0, customInspect: false, maxStringLength: 20 })
}

/** Where the handler of the request is in the app: of a router, the last function of the route. */
function placeOfHandler (ctx, fn, pattern) {
  const layer = fn.router?.stack.find(({ path, methods }) => path === ctx._matchedRoute && methods.includes(ctx.method))
  const handler = layer?.stack.at(-1) ?? fn
  const place = placeOfFunction(handler)
  if (place === null || !isOfApp(place.file)) return null
  if (pattern === undefined) return place
  const rows = String(handler).split('\n').flatMap((line, i) => pattern.test(line) ? [i] : [])
  return rows.length === 1 ? { ...place, row: place.row + rows[0] } : place
}

/**
 * What the prototype of an app's responses has in place of the members of `base`.
 *
 * @param {any} app the application
 * @param {object} base the prototype whose members they call
 * @return {object} descriptors of properties
 */
function watchers (app, base) {
  const isWatched = () => leftOf.get(app) > 0
  const rules = { body: mistakenBody, status: mistakenStatus }
  const setters = Object.entries(rules).map(([name, rule]) => {
    const { get, set } = Object.getOwnPropertyDescriptor(base, name)
    return [name, {
      configurable: true,
      get,
      set (value) {
        set.call(this, value)
        if (!isWatched()) return
        note(this, name)
        const text = rule(value)
        if (text !== undefined) warn(app, text, placeIn(trace()))
      }
    }]
  })
  const methods = {
    set (field, ...rest) {
      base.set.call(this, field, ...rest)
      if (!isWatched() || typeof field !== 'string') return
      const name = field.toLowerCase()
      note(this, name)
      if (this.incoming.httpVersionMajor >= 2 && OF_HTTP1.has(name)) warn(app, `${field} is not sent over HTTP/2`, placeIn(trace()))
    },
    [CHECK] (size) {
      const found = this.headerSent || !isWatched() ? [] : mistakenFields(this, size)
      if (found.length === 0) return
      const traced = traceOf(this, found[0][0]) ?? traceOf(this, 'body')
      warn(app, found.map(([, text]) => text).join('; '), traced === undefined ? null : placeIn(traced))
    }
  }
  return { ...Object.fromEntries(setters), ...Object.getOwnPropertyDescriptors(methods) }
}

const FIELDS = ['body', 'connection', 'content-encoding', 'content-length', 'content-range', 'date', 'keep-alive', 'transfer-encoding']

const traces = new WeakMap() // response → where these were set: name → trace

function note (response, name) {
  if (!traces.has(response)) traces.set(response, new Map())
  if (FIELDS.includes(name)) traces.get(response).set(name, trace())
}

const traceOf = (response, name) => traces.get(response)?.get(name)

/** Fields that do not fit what is sent, and those that come with them from another response: [name, text]. */
function mistakenFields (response, size) {
  const { ctx, body, status } = response
  const get = name => response.outgoing.getHeader(name)
  const isSized = typeof size === 'number'
  const length = get('Content-Length')
  const isLength = isSized ? String(length) === String(size) : /^\d+$/.test(length)
  const coding = get('Transfer-Encoding')
  const [, from, to] = /^bytes (\d+)-(\d+)\//.exec(get('Content-Range')) ?? []
  const isText = isSized && ctx.method !== 'HEAD' && !Buffer.isBuffer(body) && !isBlob(body)
  const isCopied = ['date', 'keep-alive', 'transfer-encoding'].some(name => traceOf(response, name))
  return [
    [length !== undefined && !isLength, 'Content-Length', 'is not that of the body, and the right one is sent'],
    [coding && (isSized || length || coding !== 'chunked'), 'Transfer-Encoding', 'is not sent as it is set'],
    [status === 206 && isSized && from && Number(to) - Number(from) + 1 !== size, 'Content-Range', 'is not that of the body'],
    [isText && (get('Content-Encoding') ?? 'identity') !== 'identity', 'Content-Encoding', 'is set, and the body is text'],
    ...['Connection', 'Keep-Alive'].map(name => [isCopied && get(name), name, 'is that of another response'])
  ].flatMap(([holds, name, text]) => holds ? [[name.toLowerCase(), `${name} ${text}`]] : [])
}

function mistakenBody (body) {
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return
  if (typeof body.then === 'function') return 'ctx.body is a promise, of which no client gets the value: await it'
  if (typeof body.toJSON === 'function' || streams(body) || isBlob(body)) return
  const isEmptyJSON = Object.keys(body).length === 0 && !Array.isArray(body)
  const name = body.constructor?.name
  if (isEmptyJSON && name && name !== 'Object') return `ctx.body is an object of class ${name}, of which JSON keeps nothing: it is sent as {}`
}

function mistakenStatus (status) {
  if (!Object.hasOwn(STATUS_CODES, status)) return `ctx.status is ${status}, which is no registered status`
}

function warn (app, text, place) {
  if (!app.silent) warnOnce(text, place)
}

// It ends the process, which prints the stack: a warning would come too late.
process.on?.('uncaughtExceptionMonitor', err => {
  try {
    const { message, stack } = err
    const hint = hintOfExpress(err)
    if (hint === '') return
    err.message = message + hint
    err.stack = stack.replace(message, err.message) // eslint-disable-line kone/owners -- what it prints
  } catch {}
})

module.exports = { warnOfOthers, watch, watchers }
