'use strict'

const createError = require('../../lib/shared/http-errors')
const { sizeOf } = require('../_shared/bytes')
const parseJSON = require('../_shared/json')
const readBody = require('../_shared/body')
const { given, misuse, noPromise } = require('../_shared/usage-error')
const OPTIONS = require('./options')

// apply() puts the arguments on the stack: about 100,000 of them overflow it
const MAX_ARGUMENTS = 1000

// JSON.stringify() recurses: about 3,000 levels overflow the stack
const MAX_DEPTH = 1000

const JSON_CODEC = {
  type: 'application/json',
  decode: buffer => parseJSON(shallow(buffer.toString()), true),
  encode: value => Buffer.from(JSON.stringify(value) ?? 'null')
}

/**
 * Call functions by name: `POST <prefix>/<name>` with the array of arguments as body; the response is
 * the value in the same codec.
 *
 *    app.use(rpc({
 *      add: (a, b) => a + b,
 *      async whoami () { return this.state.user } // `this` is ctx
 *    }))
 *    // POST /rpc/add [1,2] → 3
 *
 * @param {object} methods name → function; only own properties can be called
 * @param {object} [options] see options.js
 * @return {Function} middleware; throws 404 for an unknown method, 400 for a malformed body, 413 over
 * the limit, 415 for a type without a codec, 503 when too many compressed bodies are queued
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function rpc (methods, options) {
  const { prefix, codecs, limit, decoderMemory } = OPTIONS.check(options)
  if (typeof methods !== 'object' || methods === null) {
    throw misuse('rpc', `methods must be an object of functions, not ${given(methods)}`)
  }
  for (const name of Object.keys(methods)) {
    if (typeof methods[name] !== 'function') throw misuse('rpc', `methods.${name} must be a function, not ${given(methods[name])}`)
  }
  const base = prefix.endsWith('/') ? prefix : prefix + '/'
  const max = sizeOf(limit)
  const memory = sizeOf(decoderMemory)
  const byType = index(codecs)

  return function rpc (ctx, next) {
    if (ctx.method !== 'POST' || !ctx.path.startsWith(base)) return next()

    const method = find(methods, ctx.path.slice(base.length))
    const codec = byType.get(typeOf(ctx))
    if (codec === undefined) throw createError(415, 'no codec for this content type')

    const body = bytesOf(ctx, max, memory)
    return Buffer.isBuffer(body)
      ? call(ctx, method, codec, body)
      : body.then(body => call(ctx, method, codec, body))
  }
}

function index (codecs) {
  const byType = new Map([[JSON_CODEC.type, JSON_CODEC]])
  for (const codec of codecs) byType.set(codec.type.toLowerCase(), codec)
  return byType
}

/**
 * Only own properties: `toString` and `__proto__` of the prototype must not be callable. And only by one spelling, that
 * of encodeURI(), because a guard before this middleware would not know a second one.
 */
function find (methods, escaped) {
  let name
  try {
    name = decodeURIComponent(escaped)
  } catch {
    throw createError(400, 'malformed method name')
  }
  if (escaped !== encodeURI(name).replace(/[?#]/g, encodeURIComponent) || !Object.hasOwn(methods, name) || typeof methods[name] !== 'function') {
    throw createError(404, 'unknown method')
  }
  return methods[name]
}

function typeOf (ctx) {
  const header = ctx.get('content-type')
  const end = header.indexOf(';')
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase()
}

/**
 * In Koa a bodyParser before this middleware has read the stream, and kept its bytes as text.
 */
function bytesOf (ctx, limit, memory) {
  const { rawBody } = ctx.request
  if (typeof rawBody !== 'string') return readBody(ctx, limit, memory)
  const body = Buffer.from(rawBody)
  if (body.length > limit) throw createError(413)
  return body
}

async function call (ctx, method, codec, body) {
  const value = await method.apply(ctx, decode(codec, body))
  const encoded = noPromise('rpc', 'encode() of a codec', codec.encode(value))
  if (!(encoded instanceof Uint8Array)) {
    throw new TypeError(`the codec for ${codec.type} must encode to a Buffer or Uint8Array`)
  }
  ctx.set('Content-Type', codec.type)
  ctx.body = Buffer.isBuffer(encoded) ? encoded : Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
}

function decode (codec, body) {
  let args
  try {
    args = codec.decode(body)
  } catch (err) {
    if (err.type === 'depth.exceeded') throw err
    throw createError(400, 'malformed body', { cause: err })
  }
  if (!Array.isArray(noPromise('rpc', 'decode() of a codec', args))) throw createError(400, 'the body must be an array of arguments')
  if (args.length > MAX_ARGUMENTS) throw createError(400, 'too many arguments')
  return args
}

/**
 * The same text, if its arrays and objects are not nested too deeply.
 */
function shallow (json) {
  let depth = 0
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (char === '"') i = endOfString(json, i)
    else if (char === ']' || char === '}') depth--
    else if ((char === '[' || char === '{') && ++depth > MAX_DEPTH) {
      throw createError(400, `more than ${MAX_DEPTH} levels in the body`, { type: 'depth.exceeded', depth: MAX_DEPTH })
    }
  }
  return json
}

function endOfString (json, start) {
  let i = start + 1
  while (i < json.length && json[i] !== '"') i += json[i] === '\\' ? 2 : 1
  return i
}
