'use strict'

const createError = require('http-errors')
const readBody = require('../_shared/body')
const sizeOf = require('../_shared/bytes')
const { misuse } = require('../_shared/usage-error')
const { Rule, boolean, check, each, fn, list, object, off, oneOf, refused, shape, size, text } = require('../_shared/options')
const { decode, isCharset } = require('./charset')
const { Contents, LEAVE, READ, REFUSE } = require('./content')
const { KINDS, parsersOf } = require('./parsers')

const types = text.or(list(text, 'content types'))
const OPTIONS = {
  enableTypes: list(oneOf(...KINDS), "'json', 'form', 'text' and 'xml'"),
  ...each(size, 'jsonLimit', 'formLimit', 'textLimit', 'xmlLimit', 'decoderMemory'),
  encoding: new Rule('the name of a charset', isCharset),
  strict: boolean,
  detectJSON: fn,
  extendTypes: shape(each(types, ...KINDS)),
  onerror: fn,
  onProtoPoisoning: oneOf('error', 'remove', 'ignore'),
  queryString: object,
  qs: new Rule('an object with a parse function', qs => typeof qs?.parse === 'function'),
  // of @koa/bodyparser 5 and 6
  onError: fn,
  jsonStrict: boolean,
  parsedMethods: list(text, 'methods'),
  patchNode: off.or(refused('read ctx.request.body')),
  enableRawChecking: off.or(refused('set ctx.request.body where the body was read'))
}

/**
 * Parse JSON, form and text bodies into `ctx.request.body`. The text before parsing is
 * `ctx.request.rawBody`.
 *
 *    app.use(bodyParser({ jsonLimit: '200kb' }))
 *
 * @param {object} [options]
 * @param {string[]} [options.enableTypes=['json', 'form']] of json, form, text, xml
 * @param {string|number} [options.jsonLimit='1mb'] bytes, after decompression
 * @param {string|number} [options.formLimit='56kb']
 * @param {string|number} [options.textLimit='1mb']
 * @param {string|number} [options.xmlLimit='1mb']
 * @param {string|number} [options.decoderMemory='64mb'] bytes of all decoders of compressed bodies in the
 * process together; further ones are queued
 * @param {string} [options.encoding='utf-8'] of a request without a charset
 * @param {boolean} [options.strict=true] JSON must be an object or an array; also `jsonStrict`
 * @param {string[]} [options.parsedMethods] methods whose bodies are parsed; default: all
 * @param {Function} [options.detectJSON] (ctx) => boolean; true: parse the body as JSON, whatever its type
 * @param {object} [options.extendTypes] more content types: { json: ['application/x-js'] }
 * @param {Function} [options.onerror] (err, ctx) instead of throwing; also `onError`
 * @param {string} [options.onProtoPoisoning='error'] or 'remove', 'ignore': `__proto__` in JSON
 * @param {object} [options.queryString] allowDots, arrayLimit, depth, parameterLimit of forms
 * @param {{ parse: Function }} [options.qs] parser for forms; gets `queryString`
 * @return {Function} middleware; throws 400 for a corrupt body, 413 for one over a limit, 415 for an
 * unsupported type, charset or encoding, 503 when too many compressed bodies are queued
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function bodyParser (options) {
  options = check('bodyParser', options, OPTIONS)
  const { detectJSON, encoding = 'utf-8', onError, onerror = onError, jsonStrict, strict = jsonStrict } = options
  if (onError && onerror !== onError) throw misuse('bodyParser', 'options.onError and options.onerror are the same option: leave one of them out')
  const parsers = parsersOf({ ...options, strict })
  const memory = sizeOf(options.decoderMemory ?? '64mb')
  const json = parsers.find(({ kind }) => kind === 'json')
  const contents = new Contents(parsers, encoding)
  const methods = options.parsedMethods && new Set(options.parsedMethods.map(method => method.toUpperCase()))

  function bodyParser (ctx, next) {
    if (ctx.request.body !== undefined || ctx.disableBodyParser) return next()
    if (methods !== undefined && !methods.has(ctx.method)) return next()
    try {
      const pending = parse(ctx)
      if (pending !== undefined) return pending.then(() => next(), err => fail(err, ctx, next))
    } catch (err) {
      return fail(err, ctx, next)
    }
    return next()
  }

  // for openapi()
  return Object.defineProperty(bodyParser, 'consumes', { value: { types: parsers.map(({ types }) => types[0]), methods } })

  function fail (err, ctx, next) {
    if (onerror === undefined) return Promise.reject(err)
    try {
      onerror(err, ctx)
    } catch (err) {
      return Promise.reject(err)
    }
    return next()
  }

  /** @return {Promise|undefined} undefined when the body is already parsed */
  function parse (ctx) {
    const content = contentOf(ctx)
    if (content.action === REFUSE) throw createError(415, content.reason)
    if (content.action === LEAVE) {
      ctx.request.body = {}
      return
    }
    const body = readBody(ctx, content.parser.limit, memory)
    if (!Buffer.isBuffer(body)) return body.then(body => keep(ctx.request, body, content))
    keep(ctx.request, body, content)
  }

  function contentOf (ctx) {
    const header = ctx.get('content-type')
    if (json !== undefined && detectJSON?.(ctx)) return contents.readBy(json, header)

    const content = contents.of(header)
    // koa-bodyparser ignores the length of a JSON body, so a request without a body gives {}
    const needsBody = content.action === REFUSE || (content.action === READ && content.parser !== json)
    return needsBody && !hasBody(ctx) ? { action: LEAVE } : content
  }
}

function hasBody (ctx) {
  if (ctx.get('content-length') !== '' || ctx.get('transfer-encoding') !== '') return true
  // a body of HTTP/2 has neither of these headers: its frames say where it ends
  const { httpVersionMajor } = ctx.request.incoming || ctx.req
  return httpVersionMajor > 1 && !['GET', 'HEAD'].includes(ctx.method)
}

function keep (request, body, { parser, charset }) {
  const text = decode(body, charset)
  request.body = parser.read(text, charset)
  if (request.rawBody === undefined) request.rawBody = text
}
