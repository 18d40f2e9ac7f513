'use strict'

const { randomUUID } = require('crypto')
const { KeptHeaders } = require('../../lib/shared/error-path')
const OPTIONS = require('./options')

// characters that are safe in a header, a log line and a URL
const CLEAN = /^[A-Za-z0-9_\-.:=+/@]{1,128}$/

/**
 * Give every request an id: the one that it was sent with, if that has only safe characters, or a new
 * UUID. `ctx.state.id` and a header of the response have it.
 *
 *    app.use(requestId())
 *    app.use(ctx => { ctx.body = ctx.state.id })
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option that is not the name of a header or parameter
 * @api public
 */
module.exports = function requestId (options) {
  const { header, query, expose } = OPTIONS.check(options)
  const kept = new KeptHeaders([expose])

  return function requestId (ctx, next) {
    const id = (query && fromQuery(ctx, query)) || (header && clean(ctx.get(header))) || randomUUID()
    ctx.state.id = id
    if (!expose) return next()
    ctx.set(expose, id)
    kept.keepFor(ctx)
    return next()
  }
}

function fromQuery (ctx, name) {
  // most requests have no query, and reading ctx.query would build an object
  return ctx.querystring.includes(name) ? clean(ctx.query[name]) : ''
}

function clean (id) {
  return typeof id === 'string' && CLEAN.test(id) ? id : ''
}
