'use strict'

const { oneOf } = require('../_shared/origin')

/**
 * Who may connect: browsers send cookies to any host that a page connects to, whatever the page's own host is.
 *
 *    const allows = originsOf({ origins: ['https://app.example.com'] })
 *    await allows(ctx)
 *
 * @param {object} settings see options.js
 * @return {Function} `ctx => Promise|undefined`, which throws 403 or rejects with it
 */
module.exports = function originsOf ({ origins = [], requireOrigin }) {
  const listed = Array.isArray(origins) ? oneOf(origins) : () => ''

  return function allows (ctx) {
    const origin = ctx.get('Origin')
    if (origin === '' ? !requireOrigin : origins === '*' || isOwn(origin, ctx) || listed(ctx) !== '') return undefined
    if (typeof origins !== 'function' || origin === '' || origin === 'null') return refuse(origin, ctx)
    return asked(origins, origin, ctx)
  }
}

async function asked (origins, origin, ctx) {
  if (!await origins(origin, ctx)) refuse(origin, ctx)
}

function refuse (origin, ctx) {
  if (ctx.app.env !== 'development') ctx.throw(403)
  const which = origin === '' ? 'no Origin' : `Origin ${origin}`
  ctx.throw(403, `${which} is not the host of the request, ${ctx.protocol}://${ctx.host}: see the option origins of websocket(), or app.proxy behind a proxy`)
}

/**
 * The request's own host and port. Behind a proxy that ends TLS, and does not report it, the request has no TLS and its
 * page has. A page without TLS is another one than that of a request with it.
 */
function isOwn (origin, ctx) {
  const { host } = ctx
  if (host !== '' && origin === `${ctx.protocol}://${host}`) return true // as browsers send it, without parsing
  const page = parse(origin)
  if (page === undefined || page.origin !== origin || (ctx.secure && page.protocol !== 'https:')) return false
  return parse(`${page.protocol}//${host}`)?.host === page.host
}

function parse (text) {
  try {
    const url = new URL(text)
    return /^https?:$/.test(url.protocol) ? url : undefined
  } catch {
    return undefined
  }
}
