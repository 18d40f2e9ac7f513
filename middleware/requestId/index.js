'use strict'

const { randomUUID } = require('crypto')
const { Rule, check, off } = require('../_shared/options')
const { Kept } = require('../../lib/error-path')

// characters that are safe in a header, a log line and a URL
const CLEAN = /^[A-Za-z0-9_\-.:=+/@]{1,128}$/

// RFC 9110 5.1: a field name is a token
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const name = new Rule('a name', value => typeof value === 'string' && TOKEN.test(value)).or(off)
const OPTIONS = { header: name, query: name, expose: name }

/**
 * Give every request an id: the one that it was sent with, if that has only safe characters, or a new
 * UUID. `ctx.state.id` and a header of the response have it.
 *
 *    app.use(requestId())
 *    app.use(ctx => { ctx.body = ctx.state.id })
 *
 * @param {object} [options]
 * @param {string | false} [options.header='X-Request-Id'] request header with the id
 * @param {string | false} [options.query='requestId'] query parameter with the id
 * @param {string | false} [options.expose='X-Request-Id'] response header for the id
 * @return {Function} middleware
 * @throws {TypeError} for an option that is not the name of a header or parameter
 * @api public
 */
module.exports = function requestId (options) {
  const given = check('requestId', options, OPTIONS)
  const { header = 'X-Request-Id', query = 'requestId', expose = 'X-Request-Id' } = given

  const kept = new Kept([expose])

  return function requestId (ctx, next) {
    const id = (query && fromQuery(ctx, query)) || (header && clean(ctx.get(header))) || randomUUID()
    ctx.state.id = id
    if (!expose) return next()
    ctx.set(expose, id)
    kept.by(ctx)
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
