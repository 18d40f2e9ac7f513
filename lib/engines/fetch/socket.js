'use strict'

const { isIP } = require('net')
const { End } = require('../memory/pipe')

/** The connection of a request, as `ctx.socket`; there is no network behind it. */
module.exports = function createSocket (request, info) {
  return new End({ ...peer(request, info), encrypted: request.url.startsWith('https:') })
}

/** The client's address: Deno passes `{ remoteAddr }`, Bun its server, tests `{ ip }`. Other values are ignored. */
function peer (request, info) {
  if (Object(info) !== info) return {}
  const { ip, remoteAddr } = info
  if (typeof ip === 'string' && isIP(ip)) return { address: ip }
  if (typeof remoteAddr?.hostname === 'string' && isIP(remoteAddr.hostname)) {
    return { address: remoteAddr.hostname, port: remoteAddr.port }
  }
  return (typeof info.requestIP === 'function' && info.requestIP(request)) || {}
}
