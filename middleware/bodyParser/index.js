'use strict'

const createError = require('../../lib/shared/http-errors')
const readBody = require('../_shared/body')
const { sizeOf } = require('../_shared/bytes')
const { described } = require('../_shared/described')
const hasBody = require('../_shared/has-body')
const { misuse, noPromise } = require('../_shared/usage-error')
const { decode } = require('./charset')
const { Contents, LEAVE, READ, REFUSE } = require('./content')
const OPTIONS = require('./options')
const { parsersOf } = require('./parsers')

/**
 * Parse JSON, form and text bodies into `ctx.request.body`. The text before parsing is
 * `ctx.request.rawBody`.
 *
 *    app.use(bodyParser({ jsonLimit: '200kb' }))
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware; throws 400 for a corrupt body, 413 for one over a limit, 415 for an
 * unsupported type, charset or encoding, 503 when too many compressed bodies are queued
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function bodyParser (options) {
  const settings = OPTIONS.check(options)
  const { decoderMemory, detectJSON, encoding, onerror, parsedMethods } = settings
  if (options?.onError && onerror !== options.onError) throw misuse('bodyParser', 'options.onError and options.onerror are the same option: leave one of them out')
  const parsers = parsersOf(settings)
  const memory = sizeOf(decoderMemory)
  const json = parsers.find(({ kind }) => kind === 'json')
  const contents = new Contents(parsers, encoding)
  const methods = parsedMethods && new Set(parsedMethods.map(method => method.toUpperCase()))

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

  return described(bodyParser, { body: { types: parsers.map(({ types }) => types[0]), methods } })

  async function fail (err, ctx, next) {
    if (onerror === undefined) throw err
    await onerror(err, ctx)
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
    const isJSON = json !== undefined && noPromise('bodyParser', 'options.detectJSON', detectJSON?.(ctx))
    if (isJSON) return contents.readBy(json, header)

    const content = contents.of(header)
    // koa-bodyparser ignores the length of a JSON body, so a request without a body gives {}
    const needsBody = content.action === REFUSE || (content.action === READ && content.parser !== json)
    return needsBody && !hasBody(ctx) ? { action: LEAVE } : content
  }
}

function keep (request, body, { parser, charset }) {
  const text = decode(body, charset)
  request.body = parser.read(text, charset)
  if (request.rawBody === undefined) request.rawBody = text
}
