'use strict'

/**
 * For an error Koa removes all headers and sends those of the error: put the session's cookies there, so
 * that the response of `ctx.throw` has them. The error is copied, because an app may throw one error object
 * for many clients.
 */
function withCookies (err, cookies) {
  if (cookies.length === 0 || !(err instanceof Error) || err.expose !== true) return err
  const { 'set-cookie': lower = [], 'Set-Cookie': upper = [], ...headers } = err.headers || {}
  headers['set-cookie'] = cookies.concat(lower, upper)
  // a 404 may be cached
  if (!Object.keys(headers).some(name => name.toLowerCase() === 'cache-control')) headers['cache-control'] = 'private'
  return Object.create(err, { headers: { value: headers, writable: true, configurable: true } })
}

/** With its signature. */
function cookiesOf (ctx, key) {
  const set = ctx.response.get('Set-Cookie') || []
  return (Array.isArray(set) ? set : [set]).filter(cookie => cookie.startsWith(`${key}=`) || cookie.startsWith(`${key}.sig=`))
}

module.exports = { cookiesOf, withCookies }
