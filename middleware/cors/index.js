'use strict'

const koaCors = require('@koa/cors')
const { misuse } = require('../_shared/usage-error')
const { KeptHeaders } = require('../../lib/shared/error-path')
const OPTIONS = require('./options')
const { oneOf } = require('../_shared/origin')

const CHOSEN = Symbol('cors origin')

/**
 * Cross-origin resource sharing by @koa/cors, with the same options and headers.
 *
 *    app.use(cors({ origin: 'https://app.example.com', credentials: true }))
 *
 * Credentials are allowed only for an origin that the app names: `credentials` without `origin`
 * throws. If `origin` is or returns `*`, the header for credentials is not set.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type, for an origin with a path or without a scheme, and for
 *   credentials without origin
 * @api public
 */
module.exports = function cors (options) {
  const settings = withoutReflection(checked(options))
  const { keepHeadersOnError, maxAge } = settings
  const wrapped = koaCors({
    ...settings,
    maxAge: maxAge?.toString(), // @koa/cors leaves out the number 0
    keepHeadersOnError: false // @koa/cors sets them on the error, with which other requests may fail, too
  })
  const kept = new KeptHeaders(['Vary', ...headersOf({ ...settings, credentials: true }).map(([name]) => name)])
  const proceed = (ctx, next) => {
    if (keepHeadersOnError) kept.keepFor(ctx)
    return next()
  }
  if (typeof settings.origin === 'function' || typeof settings.credentials === 'function') {
    return function cors (ctx, next) {
      return wrapped(ctx, () => proceed(ctx, next))
    }
  }
  const headers = headersOf(settings)

  // Only a preflight needs @koa/cors: every other response gets the same headers, set synchronously.
  return function cors (ctx, next) {
    if (ctx.method === 'OPTIONS') return wrapped(ctx, next)

    const { response } = ctx
    if (response.get('Vary') === '') response.set('Vary', 'Origin') // faster than vary(), which parses the header
    else response.vary('Origin')
    for (const [name, value] of headers) response.set(name, value)
    return proceed(ctx, next)
  }
}

function checked (options) {
  const settings = OPTIONS.check(options)
  if (settings.credentials && !settings.origin) {
    throw misuse('cors', 'options.credentials needs options.origin: without it any site could read what a ' +
      'visitor of yours may read')
  }
  const { origin } = settings
  return Array.isArray(origin) || origin instanceof RegExp ? { ...settings, origin: oneOf(origin) } : settings
}

function headersOf ({ origin, credentials, exposeHeaders, secureContext }) {
  const headers = [['Access-Control-Allow-Origin', origin || '*']]
  if (credentials) headers.push(['Access-Control-Allow-Credentials', 'true'])
  if (exposeHeaders?.length > 0) headers.push(['Access-Control-Expose-Headers', String(exposeHeaders)])
  if (secureContext) {
    headers.push(['Cross-Origin-Opener-Policy', 'same-origin'], ['Cross-Origin-Embedder-Policy', 'require-corp'])
  }
  return headers
}

// @koa/cors turns `*` with credentials into the Origin of the request: any site could read the response.
function withoutReflection (options) {
  const { origin, credentials } = options
  if (!credentials) return options
  if (origin === '*') return { ...options, credentials: false }
  if (typeof origin !== 'function') return options

  return {
    ...options,
    async origin (ctx) {
      ctx[CHOSEN] = await origin(ctx)
      return ctx[CHOSEN]
    },
    credentials (ctx) {
      if (ctx[CHOSEN] === '*') return false
      return typeof credentials === 'function' ? credentials(ctx) : true
    }
  }
}
