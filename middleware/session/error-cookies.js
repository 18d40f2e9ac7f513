'use strict'

/**
 * For an error Koa removes all headers and sends those of the error: put the session's cookie there, so
 * that the response of `ctx.throw` has it. The error is copied, because an app may throw one error object
 * for many clients.
 */
function withCookies (err, cookies) {
  if (cookies.length === 0 || !(err instanceof Error) || err.expose !== true) return err
  const { 'set-cookie': lower = [], 'Set-Cookie': upper = [], ...headers } = err.headers || {}
  headers['set-cookie'] = cookies.concat(lower, upper)
  return Object.create(err, { headers: { value: headers, writable: true, configurable: true } })
}

function cookiesOf (ctx, key) {
  const set = ctx.response.get('Set-Cookie') || []
  return (Array.isArray(set) ? set : [set]).filter(cookie => cookie.startsWith(`${key}=`))
}

module.exports = { cookiesOf, withCookies }
