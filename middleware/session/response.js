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
 * The headers of a response to an error: those of the error and the session's.
 *
 * @param {object} ofError headers of the error
 * @param {object} kept headers by name in lower case; of `set-cookie` an array
 * @return {object}
 */
function headersWith (ofError = {}, { 'set-cookie': cookies, ...kept }) {
  if (cookies === undefined && Object.keys(kept).length === 0) return ofError
  const named = lower => Object.keys(ofError).find(name => name.toLowerCase() === lower) ?? lower
  const headers = Object.fromEntries(Object.entries(kept).filter(([name]) => !(named(name) in ofError)))
  if (cookies !== undefined) headers[named('set-cookie')] = [...cookies, ...linesOf(ofError[named('set-cookie')])]
  headers[named('cache-control')] = asPrivate(ofError[named('cache-control')]) // a 404 may be cached
  return { ...ofError, ...headers }
}

/** The headers with the session's cookie and its signature. */
function cookiesOf (ctx, key) {
  const lines = linesOf(ctx.response.get('Set-Cookie')).filter(line => line.startsWith(`${key}=`) || line.startsWith(`${key}.sig=`))
  return lines.length === 0 ? {} : { 'set-cookie': lines }
}

/**
 * The headers that a function sets, of cookies only its own.
 *
 *    changesOf(ctx, () => ctx.set('X-Session', id)) // { 'x-session': id }
 */
function changesOf (ctx, fn) {
  const { 'set-cookie': lines, ...before } = ctx.response.headers
  const known = [...linesOf(lines)] // the package cookies adds to the array itself
  fn()
  const { 'set-cookie': cookies, ...after } = ctx.response.headers
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name])
  const added = linesOf(cookies).filter(line => !known.includes(line))
  if (added.length > 0) changed.push(['set-cookie', added])
  return Object.fromEntries(changed)
}

/** Set headers back to what they were, of cookies only these. */
function setBack (ctx, { 'set-cookie': cookies = [], ...now }, { 'set-cookie': earlier = [], ...before }) {
  if (ctx.headerSent) return
  for (const name of Object.keys(now)) {
    if (before[name] === undefined) ctx.remove(name)
    else ctx.set(name, before[name])
  }
  const lines = [...linesOf(ctx.response.get('Set-Cookie') || []).filter(line => !cookies.includes(line)), ...earlier]
  ctx.remove('Set-Cookie')
  if (lines.length > 0) ctx.set('Set-Cookie', lines)
}

/**
 * Can the client still get a response? Koa says so for ever over HTTP/2, also of a client that has left.
 *
 * @param {object} ctx
 * @return {boolean}
 */
function canRespond (ctx) {
  return ctx.writable && !(ctx.outgoing === undefined && ctx.res.stream?.destroyed === true)
}

function linesOf (value = []) {
  return Array.isArray(value) ? value : [value]
}

module.exports = { canRespond, changesOf, cookiesOf, headersWith, keepPrivate, setBack }
