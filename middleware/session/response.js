'use strict'

// The headers of a response that has a session's cookie.

const PRIVATE = /(?:^|,)\s*(?:private|no-store)\s*(?:,|$)/i
const SHARED = /^(?:public|s-maxage\b.*)$/i

/**
 * Let no shared cache store a response with somebody's cookie: with its own `private` or `no-store` a response is left
 * as it is, `public` and `s-maxage` become `private`. A response without Cache-Control gets `private`, because caches
 * may store it, too (RFC 9111, 4.2.2 and 7.3).
 *
 * @param {object} ctx
 */
function keepPrivate (ctx) {
  if (ctx.headerSent) return
  const given = ctx.response.get('Cache-Control')
  const value = asPrivate(given)
  if (value !== given) ctx.set('Cache-Control', value)
}

/**
 *    asPrivate('public, max-age=600') // 'private, max-age=600'
 *    asPrivate('no-store')            // 'no-store'
 */
function asPrivate (given = '') {
  const text = String(given)
  if (PRIVATE.test(text)) return text
  const kept = text.split(',').map(directive => directive.trim()).filter(directive => directive !== '' && !SHARED.test(directive))
  return ['private', ...kept].join(', ')
}

/**
 * For an error Koa removes all headers and sends those of the error: put the session's cookies there, so
 * that the response of `ctx.throw` has them. The error is copied, because an app may throw one error object
 * for many clients.
 */
function withCookies (err, cookies) {
  if (cookies.length === 0 || !(err instanceof Error) || err.expose !== true) return err
  const { 'set-cookie': lower = [], 'Set-Cookie': upper = [], ...headers } = err.headers || {}
  headers['set-cookie'] = cookies.concat(lower, upper)
  const name = Object.keys(headers).find(name => name.toLowerCase() === 'cache-control') ?? 'cache-control'
  headers[name] = asPrivate(headers[name]) // a 404 may be cached
  return Object.create(err, { headers: { value: headers, writable: true, configurable: true } })
}

/** With its signature. */
function cookiesOf (ctx, key) {
  const set = ctx.response.get('Set-Cookie') || []
  return (Array.isArray(set) ? set : [set]).filter(cookie => cookie.startsWith(`${key}=`) || cookie.startsWith(`${key}.sig=`))
}

module.exports = { cookiesOf, keepPrivate, withCookies }
