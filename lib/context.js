'use strict'

const util = require('util')
const statuses = require('statuses')
const node = require('./engines/node')
const { http2Stream } = require('./engines/objects/message')
const { report, toError } = require('./shared/error-path')
const { RESPONSE_TO, httpErrors } = require('./core/errors')
const inContext = require('./core/in-context')
const lazy = require('./shared/lazy')
const { given, misuse } = require('./shared/usage-error')

const cookies = lazy(() => {
  return class Cookies extends require('cookies') {
    /** @param {[name: string, value?: string, options?: object]} args */
    set (...args) {
      try {
        return super.set(...args)
      } catch (err) {
        if (!err.message.startsWith('Cannot send secure cookie')) throw err
        throw new Error(`${err.message}: set app.proxy behind a proxy that ends TLS, and let it send X-Forwarded-Proto`, { cause: err })
      }
    }
  }
})

const COOKIES = Symbol('context#cookies')
const REPORTED = Symbol('context#reported')

/**
 * Prototype of `ctx`. The accessors and methods that delegate to `ctx.request` and `ctx.response`
 * are written one per line, so that a stack trace and an editor find them.
 *
 * @api public
 */
const proto = module.exports = {
  // The request and the response as the core uses them: node's, or those of an engine, which cost less and have
  // node's API (engines/contract.js). Reading them never creates `req` or `res`. Private, as the engine's methods are.
  get incoming () { return this.req },
  get outgoing () { return node.complete(this.res) },
  [node.ENGINE]: node,

  /** @return {object} what `util.inspect` shows; a prototype has no request */
  inspect () { return this.request === undefined ? this : this.toJSON() },

  /** @return {object} the parts of a context as plain data */
  toJSON () {
    return {
      request: this.request.toJSON(),
      response: this.response.toJSON(),
      app: this.app.toJSON(),
      originalUrl: this.originalUrl,
      req: '<original node req>',
      res: '<original node res>',
      socket: '<original node socket>'
    }
  },

  /**
   * Throw an http error unless `value` is truthy. Also `assert.equal`, `notEqual`, `strictEqual`,
   * `notStrictEqual`, `deepEqual`, `notDeepEqual` and `ok`, with the status after the operands.
   *
   *    ctx.assert(ctx.state.user, 401, 'Please login!')
   *
   * @param {*} value
   * @param {number} [status=500]
   * @param {string} [message]
   * @param {object} [props]
   * @throws {HttpError}
   */
  assert: httpAssert,

  /**
   * Throw an http error; its message is sent to the client if `expose` is set (status below 500).
   * The arguments are those of http-errors, whose version is Koa's.
   *
   *    ctx.throw(400, 'name required', { field: 'name' })
   *
   * @param {...(number | string | Error | object)} args
   * @throws {HttpError}
   */
  throw (...args) {
    throw httpErrors()(...args)
  },

  /**
   * Send the response for an error that ended a request, and report the error to
   * `app.on('error')`. Without an error it does nothing, so it can serve as a node-style callback.
   *
   * An app may replace it, on `app.context`: its own gets what was thrown, whatever that is.
   *
   * @param {*} [err]
   * @api private
   */
  onerror (err) {
    // A stream on a lost connection fails twice, by its own error and by node's 'aborted': only the first is reported.
    if (err == null || err === this[REPORTED] || (this[REPORTED] && isReset(err))) return
    err = this[REPORTED] = toError(err)

    const tooLate = this.headerSent || !this.writable
    if (tooLate) assign(err, 'headerSent', true)
    report(this, err)
    if (tooLate) return

    try {
      sendError(this, err)
    } catch {
      sendPlainError(this) // the error's own headers, status or message cannot be sent
    }
  },

  [RESPONSE_TO] (err) {
    return { status: err.code === 'ENOENT' ? 404 : err.status || err.statusCode, headers: err.headers }
  },

  /**
   * Call `fn` once: with null when the whole response was flushed to the client's connection, or
   * with an error of code `KONE_ERR_RESPONSE_LOST` when the connection closed before, whose `cause`
   * is the connection's own error, if it has one. On every engine, without making `ctx.req` or
   * `ctx.res`. `fn` runs in the async context of this call: it sees the same AsyncLocalStorage stores.
   *
   *    ctx.onFinished(err => metrics.count(err === null ? 'sent' : 'lost'))
   *
   * @param {Function} fn `(err|null) => void`
   */
  onFinished (fn) {
    if (typeof fn !== 'function') throw misuse('context', `ctx.onFinished(fn): fn must be a function, not ${given(fn)}`)
    this[node.ENGINE].onFinished(this.incoming, this.outgoing, inContext(fn))
  },

  /**
   * Read and write cookies (https://github.com/pillarjs/cookies). `app.keys` sign only where an options object is passed.
   *
   *    ctx.cookies.get('name', { signed: true })
   *    ctx.cookies.set('name', 'tobi', { signed: true, maxAge: 3600e3 })
   *
   * @return {import('cookies')}
   */
  get cookies () {
    if (!this[COOKIES]) {
      const Cookies = cookies()
      this[COOKIES] = new Cookies(this.incoming, this.outgoing, {
        keys: this.app.keys,
        secure: this.request.secure
      })
    }
    return this[COOKIES]
  },

  set cookies (cookies) { this[COOKIES] = cookies },

  // ctx.response

  attachment (...args) { return this.response.attachment(...args) },
  redirect (...args) { return this.response.redirect(...args) },
  back (...args) { return this.response.back(...args) },
  remove (...args) { return this.response.remove(...args) },
  vary (...args) { return this.response.vary(...args) },
  has (...args) { return this.response.has(...args) },
  set (...args) { return this.response.set(...args) },
  append (...args) { return this.response.append(...args) },
  flushHeaders (...args) { return this.response.flushHeaders(...args) },

  get status () { return this.response.status },
  set status (code) { this.response.status = code },
  get message () { return this.response.message },
  set message (msg) { this.response.message = msg },
  get body () { return this.response.body },
  set body (val) { this.response.body = val },
  get length () { return this.response.length },
  set length (n) { this.response.length = n },
  get type () { return this.response.type },
  set type (type) { this.response.type = type },
  get lastModified () { return this.response.lastModified },
  set lastModified (val) { this.response.lastModified = val },
  get etag () { return this.response.etag },
  set etag (val) { this.response.etag = val },
  get headerSent () { return this.response.headerSent },
  get writable () { return this.response.writable },

  // ctx.request

  acceptsLanguages (...args) { return this.request.acceptsLanguages(...args) },
  acceptsEncodings (...args) { return this.request.acceptsEncodings(...args) },
  acceptsCharsets (...args) { return this.request.acceptsCharsets(...args) },
  accepts (...args) { return this.request.accepts(...args) },
  get (...args) { return this.request.get(...args) },
  is (...args) { return this.request.is(...args) },

  get querystring () { return this.request.querystring },
  set querystring (str) { this.request.querystring = str },
  get idempotent () { return this.request.idempotent },
  get socket () { return this.request.socket },
  get search () { return this.request.search },
  set search (str) { this.request.search = str },
  get method () { return this.request.method },
  set method (val) { this.request.method = val },
  get query () { return this.request.query },
  set query (obj) { this.request.query = obj },
  get path () { return this.request.path },
  set path (path) { this.request.path = path },
  get url () { return this.request.url },
  set url (val) { this.request.url = val },
  get accept () { return this.request.accept },
  set accept (obj) { this.request.accept = obj },
  get origin () { return this.request.origin },
  get href () { return this.request.href },
  get subdomains () { return this.request.subdomains },
  get protocol () { return this.request.protocol },
  get host () { return this.request.host },
  get hostname () { return this.request.hostname },
  get URL () { return this.request.URL },
  get header () { return this.request.header },
  get headers () { return this.request.headers },
  get secure () { return this.request.secure },
  get stale () { return this.request.stale },
  get fresh () { return this.request.fresh },
  get ips () { return this.request.ips },
  get ip () { return this.request.ip },
  set ip (ip) { this.request.ip = ip }
}

proto[util.inspect.custom] = proto.inspect

/** Node's error of a message whose connection was lost. */
function isReset (err) {
  return err.code === 'ECONNRESET' && err.message === 'aborted'
}

function sendError (ctx, err) {
  const { outgoing, response } = ctx
  for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name)
  const { status: wanted, headers } = ctx[RESPONSE_TO](err)
  if (headers) response.set(headers)
  response.type = 'text'

  const status = isFinal(wanted) ? wanted : 500
  const text = err.expose && typeof err.message === 'string' ? err.message : reasonOf(status)
  response.status = status
  assign(err, 'status', status)
  response.remove('Transfer-Encoding')
  if (http2Stream(outgoing)) node.dropHttp1(response)
  // HTTP/2: node resets the stream of a response that has a Content-Length and no body.
  if (!http2Stream(outgoing) || !statuses.empty[status]) response.length = Buffer.byteLength(text)
  outgoing.end(text)
}

function sendPlainError (ctx) {
  const { outgoing } = ctx
  try {
    // the error may come from an invalid reason phrase; HTTP/2 has none
    if (!http2Stream(outgoing)) outgoing.statusMessage = undefined
    sendError(ctx, { status: 500 })
  } catch {
    // Nothing can be sent any more, for example because node rejected the headers after building them.
    outgoing.destroy?.()
  }
}

function reasonOf (status) {
  return statuses.message?.[status] || statuses[status]
}

// After an informational status (below 200) the client waits for the response itself.
function isFinal (status) {
  return typeof status === 'number' && status >= 200 && Boolean(reasonOf(status))
}

// Errors may be frozen.
function assign (err, key, value) {
  try {
    err[key] = value
  } catch {}
}

function httpAssert (value, status, message, props) {
  if (!value) throw httpErrors()(status || 500, ...[message, props].filter(arg => arg !== undefined))
}

function comparing (holds) {
  return function (a, b, status, message, props) {
    httpAssert(holds(a, b), status, message, props)
  }
}

function deepEqual (a, b) {
  try {
    require('assert').deepEqual(a, b) // loose, as Koa's
    return true
  } catch {
    return false
  }
}

httpAssert.ok = httpAssert
httpAssert.fail = (status, message, props) => httpAssert(false, status, message, props)
httpAssert.equal = comparing((a, b) => a == b) // eslint-disable-line eqeqeq
httpAssert.notEqual = comparing((a, b) => a != b) // eslint-disable-line eqeqeq
httpAssert.strictEqual = comparing((a, b) => a === b)
httpAssert.notStrictEqual = comparing((a, b) => a !== b)
httpAssert.deepEqual = comparing(deepEqual)
httpAssert.notDeepEqual = comparing((a, b) => !deepEqual(a, b))
