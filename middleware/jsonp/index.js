'use strict'

const fs = require('fs')
const { StringDecoder } = require('string_decoder')
const { Transform } = require('stream')
const middlewareAndFinal = require('../_shared/middleware-and-final')
const changed = require('../_shared/changed')
const { SERIALIZED } = require('../_shared/context')
const transformed = require('../_shared/transformed')
const { isBlob, isResponse, isWebStream } = require('../../lib/shared/web')
const OPTIONS = require('./options')

// a path of plain identifiers and indexes: cb, my.app.cb, jQuery36.calls[12]
const CALLBACK = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[\d+\])*$/
const MAX_CALLBACK = 128
const SCRIPT = Symbol('jsonp script') // the body that a jsonp before has set
const LINE_ENDS = /[\u2028\u2029]/

const UNTYPED = 'application/octet-stream' // Koa's type of a stream for which the app sets none
const OF_FILES = ['Content-Disposition', 'Content-Length', 'Accept-Ranges', 'Last-Modified']

/**
 * Respond to a GET that names a callback with a script that calls it.
 *
 *    app.use(jsonp())
 *    app.use(ctx => { ctx.body = { a: 1 } })   // GET /?callback=cb: a script, cb({"a":1})
 *
 * If the callback is not a path of identifiers, or is longer than 128 characters, the response is a
 * 400 and the next middleware does not run. Some bodies are sent unchanged: an empty one, a Buffer or
 * stream of another type than JSON, a range, and a body that is already encoded.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
const { middleware, final } = middlewareAndFinal(function jsonp (options) {
  const { callbackName } = OPTIONS.check(options)

  return { wants: ctx => callbackOf(ctx, callbackName), act: wrap }
})

module.exports = middleware

/**
 * The same for `app.final`: a bad callback is a 400 after the handler has run.
 *
 *    app.final(jsonp.final({ callbackName: 'cb' }))
 *
 * @param {object} [options] see options.js
 * @return {Function} (ctx) => void
 * @api public
 */
module.exports.final = final

function callbackOf (ctx, callbackName) {
  if (ctx.querystring === '' || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return
  const callback = ctx.query[callbackName]
  if (!callback) return
  if (typeof callback !== 'string' || callback.length > MAX_CALLBACK || !CALLBACK.test(callback)) {
    ctx.throw(400, 'invalid callback')
  }
  return callback
}

function wrap (ctx, callback) {
  const { body, response, status } = ctx
  if (status === 304) return changed.unchanged(ctx)
  if (!ctx.writable || response.get('Content-Encoding')) return
  if (status === 206 || response.get('Content-Range')) return // a part of the JSON

  // without the comment the body begins with bytes that the client chose (Rosetta Flash)
  const start = `/**/${callback}(`

  if (body == null) {
    // the stream of a file, say, which only GET makes
    if (ctx.method === 'HEAD' && response.get('Content-Length') && holdsJSON(ctx)) setScript(ctx, new Script(start, ');'))
    return
  }
  if (body === ctx[SCRIPT]) return
  if (typeof body.pipe === 'function') {
    if (!holdsJSON(ctx) && !isUntyped(ctx, body)) return
    const script = new Script(start, ');')
    setScript(ctx, transformed(body, script, response.get('Content-Length')))
  } else if (Buffer.isBuffer(body)) {
    if (holdsJSON(ctx)) setScript(ctx, start + escape(body.toString()) + ');')
  } else if (!isWebBody(body)) {
    const json = body === ctx[SERIALIZED] ? body : JSON.stringify(body, null, ctx.app.jsonSpaces)
    setScript(ctx, start + escape(json) + ');')
  }
}

function holdsJSON ({ response: { type } }) {
  return type === 'application/json' || type.endsWith('+json')
}

/** A stream that the app makes is JSON, as for koa-jsonp; a file without a type may be anything that was uploaded. */
function isUntyped ({ response }, stream) {
  return response.type === UNTYPED && !(stream instanceof fs.ReadStream) && !OF_FILES.some(name => response.get(name))
}

function isWebBody (body) {
  return isBlob(body) || isWebStream(body) || isResponse(body)
}

function setScript (ctx, body) {
  const { response } = ctx
  response.set('Content-Type', 'text/javascript; charset=utf-8')
  response.set('X-Content-Type-Options', 'nosniff')
  response.remove('Content-Length')
  changed(ctx)
  ctx.body = ctx[SCRIPT] = body
}

/** JSON may contain U+2028 and U+2029; before ES2019 they ended a line of a script. */
function escape (json) {
  if (!LINE_ENDS.test(json)) return json
  return json.replace(/[\u2028\u2029]/g, end => end === '\u2028' ? '\\u2028' : '\\u2029')
}

/**
 * Wraps streamed JSON. Decodes it first, because a chunk may end inside of a character. Sends nothing before the first
 * chunk, so that the error of a stream that has none gets a response.
 */
class Script extends Transform {
  constructor (start, end) {
    super()
    this.decoder = new StringDecoder()
    this.head = start
    this.tail = end
  }

  _transform (chunk, encoding, done) {
    done(null, this.begin() + escape(this.decoder.write(chunk)))
  }

  _flush (done) {
    done(null, this.begin() + escape(this.decoder.end()) + this.tail)
  }

  begin () {
    const { head } = this
    this.head = ''
    return head
  }
}
