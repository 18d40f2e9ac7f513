'use strict'

const { randomUUID } = require('node:crypto')
const { Rule, check, off } = require('../_shared/options')

// what is safe in a header, a log line and a URL
const CLEAN = /^[A-Za-z0-9_\-.:=+/@]{1,128}$/

// RFC 9110 5.1: a field name is a token
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const name = new Rule('a name', value => typeof value === 'string' && TOKEN.test(value)).or(off)
const OPTIONS = { header: name, query: name, expose: name }

/**
 * Give every request an id: the one it came with, if that is clean, or a new UUID. It is at
 * `ctx.state.id` and in the response.
 *
 *    app.use(requestId())
 *    app.use(ctx => { ctx.body = ctx.state.id })
 *
 * @param {object} [options]
 * @param {string | false} [options.header='X-Request-Id'] request header to take it from
 * @param {string | false} [options.query='requestId'] query parameter to take it from
 * @param {string | false} [options.expose='X-Request-Id'] response header to tell it in
 * @return {Function} middleware
 * @throws {TypeError} for an option that is no header or parameter name
 * @api public
 */
module.exports = function requestId (options) {
  const given = check('requestId', options, OPTIONS)
  const { header = 'X-Request-Id', query = 'requestId', expose = 'X-Request-Id' } = given

  return function requestId (ctx, next) {
    const id = (query && fromQuery(ctx, query)) || (header && clean(ctx.get(header))) || randomUUID()
    ctx.state.id = id
    if (expose) ctx.set(expose, id)
    return next()
  }
}

function fromQuery (ctx, name) {
  // most requests have none, and ctx.query is an object to build
  return ctx.querystring.includes(name) ? clean(ctx.query[name]) : ''
}

function clean (id) {
  return typeof id === 'string' && CLEAN.test(id) ? id : ''
}
