'use strict'

const { nextTick, setImmediate } = require('../../shared/timers')
const { readStream } = require('../objects/body')
const { whenFinished } = require('../objects/finished')
const { canRespond, http2Stream } = require('../objects/message')
const { follow } = require('../rest')

/**
 * What the core needs beyond node's API, for node's own req and res (HTTP/1 and HTTP/2) and for plain objects in their
 * place, as tests have them. The objects of the other engines have it as methods: see ../contract.js and
 * ../../core/create-context.js.
 */

const kCtx = Symbol('kone.ctx')
const kWatched = Symbol('kone.watched')

/** One request header field, never what `headers` inherits. */
exports.field = function ({ headers }, name) {
  const value = headers[name]
  return typeof value === 'string' || (value && Object.hasOwn(headers, name)) ? value : undefined
}

exports.readBody = readStream

exports.onFinished = whenFinished

/** What a stream is piped into. */
exports.sink = ctx => ctx.res

exports.canRespond = canRespond

/**
 * Report errors of the connection to `ctx.onerror`. On HTTP/1 one listener per connection replaces Koa's listeners per
 * request.
 */
exports.watch = function (ctx) {
  const { req, res } = ctx
  const { socket } = req
  if (!socket || typeof socket.once !== 'function') return
  if (req.httpVersionMajor >= 2) {
    const stream = http2Stream(res)
    if (stream?.headRequest) dropBody(res)
    else if (stream?.endAfterHeaders === false) {
      // Later, as node closes a stream that nobody has read: Node 26 forgets headers without a body that it has not
      // written, and Node 20's clients never close a stream whose end and reset come in one read.
      stream.once('finish', () => setImmediate(follow, req, socket))
    }
    ctx.onFinished(err => ctx.onerror(err?.cause)) // a client that left is not an error of the app
    return
  }
  if (res[kCtx] === undefined && socket.server !== undefined) followBody(req, res, socket)
  res[kCtx] = ctx
  if (socket[kWatched] === undefined) {
    socket[kWatched] = true
    socket.once('error', connectionFailed)
  }
}

/** Before node's own listener for 'finish', which would drop a body that nobody has touched, however long it is. */
function followBody (req, res, socket) {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers
  if (coding === undefined && !(length > 0)) return
  res.prependOnceListener('finish', () => follow(req, socket))
}

/**
 * Ignore the body of a response to HEAD, as node:http does. Node has ended the writable side of such a stream of
 * HTTP/2, so that a write fails it; an app may write without asking for the method, or have changed `ctx.method`.
 */
function dropBody (res) {
  const { end } = res
  // eslint-disable-next-line kone/owners -- node's response, where node:http does it itself
  Object.assign(res, {
    write (chunk, ...rest) {
      // @ts-expect-error -- it is res
      this.flushHeaders()
      const done = rest.find(isFunction)
      if (done) nextTick(done)
      return true
    },
    end (...args) {
      return end.call(this, args.find(isFunction))
    }
  })
}

function isFunction (value) {
  return typeof value === 'function'
}

function connectionFailed (err) {
  const res = this._httpMessage // the response in progress, as node keeps it
  if (res && res[kCtx]) res[kCtx].onerror(err)
}

/** Node's methods that plain objects may lack, by what Koa 2 reads of them. */
const METHODS = {
  getHeaders: res => typeof res.getHeaders === 'function' ? res.getHeaders() : res._headers || {},
  getHeader: (res, name) => METHODS.getHeaders(res)[name.toLowerCase()],
  hasHeader: (res, name) => Object.hasOwn(METHODS.getHeaders(res), name.toLowerCase()),
  getHeaderNames: res => Object.keys(METHODS.getHeaders(res))
}

const LACKING = {
  get (res, name, receiver) {
    const value = Reflect.get(res, name, receiver)
    return typeof value === 'function' || !Object.hasOwn(METHODS, name) ? value : METHODS[name].bind(null, res)
  }
}

/**
 * A response with all methods that the core calls.
 *
 * @return {http.ServerResponse|object|undefined} the same, unless it lacks one
 */
exports.complete = function (res) {
  const isComplete = !res || (typeof res.getHeader === 'function' && typeof res.hasHeader === 'function' &&
    typeof res.getHeaders === 'function' && typeof res.getHeaderNames === 'function')
  return isComplete ? res : new Proxy(res, LACKING)
}

/** RFC 9113, 8.2.2: fields of one connection are malformed in HTTP/2. */
const OF_HTTP1 = exports.OF_HTTP1 = new Set([
  'connection', 'http2-settings', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'
])

/**
 * Remove what HTTP/2 forbids and an app has copied, from an upstream's response, say.
 *
 * @param {{ outgoing: any }} response ctx.response
 */
exports.dropHttp1 = function ({ outgoing }) {
  for (const name of OF_HTTP1) if (outgoing.hasHeader(name)) outgoing.removeHeader(name)
}

/** Where the prototypes of ctx, request and response have these functions, or those of another engine. */
exports.ENGINE = Symbol('kone.engine')
