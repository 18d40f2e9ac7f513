'use strict'

const { stat } = require('fs/promises')
const middlewareAndFinal = require('../_shared/middleware-and-final')
const entityTag = require('../_shared/entity-tag')
const { isBlob, isResponse, isWebStream } = require('../../lib/shared/web')
const OPTIONS = require('./options')

/**
 * Give responses an ETag: of their bytes, or of a file's size and time for a file's stream.
 *
 *    app.use(conditionalGet())
 *    app.use(etag())
 *
 * No ETag is set if the response has one, if its status is 206 or not 2xx, or if its body is another stream,
 * a Blob, a ReadableStream or a Response.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
const { middleware, final } = middlewareAndFinal(function etag (options) {
  const { weak } = OPTIONS.check(options)

  return { act: ctx => tag(ctx, weak) }
})

module.exports = middleware

/**
 * The same for `app.final`.
 *
 *    app.final(etag.final())
 *    app.final(conditionalGet.final())
 *
 * @param {object} [options] see options.js
 * @return {Function} (ctx) => Promise|undefined
 * @api public
 */
module.exports.final = final

function tag (ctx, weak) {
  const { body, status } = ctx
  if (!body || status < 200 || status > 299 || status === 206 || ctx.response.get('ETag')) return

  if (typeof body === 'string' || Buffer.isBuffer(body)) return set(ctx, weak, entityTag(body))
  if (typeof body.pipe === 'function') {
    if (typeof body.path !== 'string') return
    return stat(body.path).then(stats => set(ctx, weak ?? true, fileTag(stats)), err => fail(ctx, err))
  }
  if (isBlob(body) || isWebStream(body) || isResponse(body)) return

  const json = JSON.stringify(body)
  if (json !== undefined) set(ctx, weak, entityTag(json))
}

/** As a rule the stream cannot open the file, either: one of the two errors is enough. */
function fail (ctx, err) {
  if (ctx.body?.errored) return
  ctx.body = '' // kone reports no error of a stream that was replaced
  throw err
}

function set (ctx, weak, tag) {
  ctx.set('ETag', weak ? `W/${tag}` : tag)
}

function fileTag ({ size, mtime }) {
  return `"${size.toString(16)}-${mtime.getTime().toString(16)}"`
}
