'use strict'

const { isIP } = require('net')

const WITH_PORT = /^\[|\.\d+:/

/**
 * The address of a client. Without one, all such clients are counted as one, which is reported once.
 *
 * @return {Function} (ctx) => String
 * @api private
 */
module.exports = function addressReader () {
  let isReported = false

  return ctx => {
    const ip = ctx.ip ?? ''
    const address = WITH_PORT.test(ip) ? withoutPort(ip) : ip // Koa's ctx.ip is what X-Forwarded-For has
    if (!isReported && (address === '' || isProxy(ctx))) {
      isReported = true
      warn()
    }
    return address
  }
}

/** Is ctx.ip the proxy's address, because what the proxy sent is not one? */
function isProxy (ctx) {
  const { app } = ctx
  return Boolean(app.proxy) && ctx.get(app.proxyIpHeader ?? 'X-Forwarded-For') !== '' && ctx.ips.length === 0
}

/** `1.2.3.4:567` and `[::1]:567` have a new port for every connection. */
function withoutPort (text) {
  const [, address = ''] = /^(?:\[([^\]]*)\]|([\d.]*))(?::\d+)?$/.exec(text)?.filter(part => part !== undefined) ?? []
  return isIP(address) === 0 ? '' : address
}

function warn () {
  process.emitWarning('rateLimit counts clients without an address as one: on a unix socket, in app.fetch() without info, ' +
    'or behind a proxy whose X-Forwarded-For has no IP address; set options.id',
  { code: 'KONE_RATE_LIMIT_ADDRESS' })
}
