'use strict'

const contentType = require('content-type')
const createError = require('http-errors')
const iconv = require('iconv-lite')
const typeis = require('type-is')
const sizeOf = require('../_shared/bytes')
const readBody = require('../_shared/body')
const form = require('../_shared/form')
const { Rule, boolean, check, fn, list, object, oneOf, shape, size, text } = require('../_shared/options')
const parseJSON = require('../_shared/json')

// iconv-lite reads these too, but they are no charsets
const NOT_CHARSETS = /^(?:base64|hex|binary)$/i

const TYPES = {
  json: [
    'application/json', 'application/json-patch+json', 'application/vnd.api+json',
    'application/csp-report', 'application/scim+json'
  ],
  form: ['application/x-www-form-urlencoded'],
  text: ['text/plain'],
  xml: ['text/xml', 'application/xml']
}
const LIMITS = { json: '1mb', form: '56kb', text: '1mb', xml: '1mb' }

const charset = new Rule('the name of a charset', isCharset)
const types = text.or(list(text, 'content types'))
const OPTIONS = {
  enableTypes: list(oneOf(...Object.keys(TYPES)), "'json', 'form', 'text' and 'xml'"),
  jsonLimit: size,
  formLimit: size,
  textLimit: size,
  xmlLimit: size,
  encoding: charset,
  strict: boolean,
  detectJSON: fn,
  extendTypes: shape({ json: types, form: types, text: types, xml: types }),
  onerror: fn,
  onProtoPoisoning: oneOf('error', 'remove', 'ignore'),
  queryString: object,
  qs: new Rule('an object with a parse function', qs => typeof qs?.parse === 'function')
}

// Content-Type values remembered, so that a usual one is read once per app, not once per request
const MAX_REMEMBERED = 100

/**
 * Parse JSON, form and text bodies into `ctx.request.body`, the text itself into
 * `ctx.request.rawBody`.
 *
 *    app.use(bodyParser({ jsonLimit: '200kb' }))
 *
 * @param {Object} [options]
 * @param {String[]} [options.enableTypes=['json', 'form']] of json, form, text, xml
 * @param {String|Number} [options.jsonLimit='1mb'] bytes, after decompression
 * @param {String|Number} [options.formLimit='56kb']
 * @param {String|Number} [options.textLimit='1mb']
 * @param {String|Number} [options.xmlLimit='1mb']
 * @param {String} [options.encoding='utf-8'] where the request names no charset
 * @param {Boolean} [options.strict=true] JSON must be an object or an array
 * @param {Function} [options.detectJSON] (ctx) => true: read it as JSON whatever its type
 * @param {Object} [options.extendTypes] more content types: { json: ['application/x-js'] }
 * @param {Function} [options.onerror] (err, ctx) instead of throwing
 * @param {String} [options.onProtoPoisoning='error'] or 'remove', 'ignore': `__proto__` in JSON
 * @param {Object} [options.queryString] allowDots, arrayLimit, depth, parameterLimit of forms
 * @param {{ parse: Function }} [options.qs] parses forms instead, called with queryString
 * @return {Function} middleware; throws 400 corrupt, 413 over a limit, 415 for a type, charset or
 * encoding it cannot read
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function bodyParser (options) {
  options = check('bodyParser', options, OPTIONS)
  const { detectJSON, onerror } = options
  const parsers = prepare(options)
  const remembered = new Map()

  return function bodyParser (ctx, next) {
    if (ctx.request.body !== undefined || ctx.disableBodyParser) return next()
    try {
      const pending = parse(ctx)
      if (pending !== undefined) return pending.then(() => next(), err => fail(err, ctx, next))
    } catch (err) {
      return fail(err, ctx, next)
    }
    return next()
  }

  function fail (err, ctx, next) {
    if (onerror === undefined) return Promise.reject(err)
    try {
      onerror(err, ctx)
    } catch (err) {
      return Promise.reject(err)
    }
    return next()
  }

  /**
   * @return {Promise|undefined} undefined when it is done
   */
  function parse (ctx) {
    const content = recognise(ctx)
    if (content === null) {
      ctx.request.body = {}
      return
    }
    const body = readBody(ctx, content.parser.limit)
    if (!Buffer.isBuffer(body)) return body.then(body => keep(ctx.request, body, content))
    keep(ctx.request, body, content)
  }

  /**
   * @return {{ parser: Object, charset: String }|null} null: leave it for somebody else
   */
  function recognise (ctx) {
    const header = ctx.get('content-type')
    if (detectJSON !== undefined && parsers.json && detectJSON(ctx)) {
      const { charset, refused } = contentOf(header)
      return { parser: parsers.json, charset: refused === null && charset ? charset : parsers.json.charset }
    }
    if (header === '') return null

    const content = contentOf(header)
    if (content.parser === null && content.refused === null) return null
    // JSON is read without asking for a length, as koa-bodyparser does: no body is then {}
    if (!hasBody(ctx) && (content.refused !== null || content.parser !== parsers.json)) return null
    if (content.refused !== null) throw createError(415, content.refused)
    return content
  }

  function contentOf (header) {
    let content = remembered.get(header)
    if (content !== undefined) return content

    content = classify(header, parsers)
    if (remembered.size === MAX_REMEMBERED) remembered.clear()
    if (header.length < 128) remembered.set(header, content)
    return content
  }
}

/**
 * @return {Object} name of each enabled type → { types, limit, charset, read }
 */
function prepare (options) {
  const { enableTypes = ['json', 'form'], extendTypes = {}, encoding = 'utf-8' } = options
  const { strict = true, onProtoPoisoning = 'error' } = options
  const read = {
    json: text => parseJSON(text, strict, onProtoPoisoning),
    form: formReader(options),
    text: text => text,
    xml: text => text
  }

  const parsers = {}
  for (const name of ['json', 'form', 'text', 'xml']) {
    if (!enableTypes.includes(name)) continue
    parsers[name] = {
      types: TYPES[name].concat(extendTypes[name] || []),
      limit: sizeOf(options[`${name}Limit`] ?? LIMITS[name]),
      charset: encoding,
      read: read[name]
    }
  }
  return parsers
}

function formReader ({ qs, queryString = {} }) {
  const settings = { allowDots: true, ...queryString }
  const parse = qs === undefined ? form(settings) : text => qs.parse(text, settings)
  return function readForm (text, charset) {
    try {
      return isUtf8(charset) ? parse(text) : parse(text, escaped => unescape(escaped, charset))
    } catch (err) {
      err.status ??= 400
      err.body = text
      throw err
    }
  }
}

/**
 * What a content type asks for. `refused` says why it cannot be read.
 *
 * @return {{ parser: Object|null, charset: String, refused: String|null }}
 */
function classify (header, parsers) {
  const content = { parser: null, charset: '', refused: null }
  const value = header.replace(/;\s*$/, '')
  const type = value.split(';', 1)[0].trim()
  if (!isType(type)) return { ...content, refused: 'malformed content type' }

  // the parameters of a type that is left to others are theirs to judge
  content.parser = Object.values(parsers).find(({ types }) => typeis.is(type, types)) || null
  if (content.parser === null) return content

  let parameters
  try {
    parameters = contentType.parse(value).parameters
  } catch {
    return { ...content, refused: 'malformed content type' }
  }
  content.charset = (parameters.charset || content.parser.charset).toLowerCase()
  if (!isCharset(content.charset)) content.refused = `unsupported charset "${content.charset}"`
  return content
}

// token "/" token, RFC 9110 8.3.1
function isType (type) {
  return /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/.test(type)
}

function isCharset (name) {
  return typeof name === 'string' && !NOT_CHARSETS.test(name) && iconv.encodingExists(name)
}

function isUtf8 (charset) {
  return charset === 'utf-8' || charset === 'utf8'
}

function hasBody (ctx) {
  if (ctx.get('content-length') !== '' || ctx.get('transfer-encoding') !== '') return true
  // HTTP/2 frames need neither
  const { httpVersionMajor } = ctx.request.incoming || ctx.req
  return httpVersionMajor > 1 && !['GET', 'HEAD'].includes(ctx.method)
}

function keep (request, body, { parser, charset }) {
  const text = decode(body, charset)
  request.body = parser.read(text, charset)
  if (request.rawBody === undefined) request.rawBody = text
}

function decode (body, charset) {
  if (!isUtf8(charset)) return iconv.decode(body, charset)
  const text = body.toString()
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/**
 * Percent-encoding is of bytes, and these bytes are in the form's charset.
 */
function unescape (text, charset) {
  const escaped = iconv.encode(text.replaceAll('+', ' '), charset).toString('latin1')
  const raw = escaped.replace(/%([0-9a-f]{2})/gi, (match, hex) => String.fromCharCode(parseInt(hex, 16)))
  return iconv.decode(Buffer.from(raw, 'latin1'), charset)
}
