'use strict'

const { elsewhere } = require('../../lib/shared/runtime')
const { manual } = require('../_shared/usage-error')

const kUpgrade = Symbol.for('kone.upgrade')

/** RFC 6455, 4.1: 16 bytes in base64. */
const KEY = /^[+/\dA-Za-z]{22}==$/

let isReported = false

/**
 * Check a handshake: RFC 6455, 4.2.1 and 4.4.
 *
 * @param {object} ctx
 * @param {object} [subprotocol] ws's parser
 * @return {{ upgrade: object, request: object, offered: Set<string>|undefined }} the Upgrade of lib/engines/upgrade.js,
 *   what ws reads of the request, the subprotocols
 * @throws {Error} 426 or 400 for the client; 500 where kone cannot give a connection to the handler
 */
module.exports = function handshakeOf (ctx, subprotocol) {
  const req = elsewhere === '' ? ctx.incoming ?? ctx.req : undefined // in Koa there is only the latter
  const upgrade = req?.[kUpgrade]
  if (upgrade === undefined) {
    const fault = faultOf(ctx, req?.httpVersion)
    if (fault === '') throw new Error(reasonOf(ctx))
    if (ctx.method === 'GET' && ctx.get('Sec-WebSocket-Key') !== '') report(ctx, fault)
    return ctx.throw(426, { headers: req?.httpVersion === '1.1' ? upgradeTo(ctx.get('Connection')) : {} })
  }
  if (ctx.get('Sec-WebSocket-Version') !== '13') ctx.throw(426, { headers: { ...upgradeTo('close'), 'Sec-WebSocket-Version': '13' } })
  const key = ctx.get('Sec-WebSocket-Key')
  if (!KEY.test(key)) ctx.throw(400, 'bad Sec-WebSocket-Key')
  const parse = subprotocol?.parse ?? (text => new Set(text.split(',').map(one => one.trim()))) // an older ws
  const protocols = ctx.get('Sec-WebSocket-Protocol')
  try {
    const request = requestOf(key, protocols, ctx.get('Sec-WebSocket-Extensions'))
    return { upgrade, request, offered: protocols === '' ? undefined : parse(protocols) }
  } catch {
    return ctx.throw(400, 'bad Sec-WebSocket-Protocol')
  }
}

/** Node's own request is an object that costs a fifth of a handshake. */
function requestOf (key, protocols, extensions) {
  const headers = { upgrade: 'websocket', 'sec-websocket-key': key, 'sec-websocket-version': '13' }
  if (protocols !== '') headers['sec-websocket-protocol'] = protocols
  if (extensions !== '') headers['sec-websocket-extensions'] = extensions
  return { method: 'GET', headers }
}

/** Of a request that is no handshake: RFC 6455, 4.2.1. */
function faultOf (ctx, version) {
  if (ctx.get('Upgrade').toLowerCase() !== 'websocket') return 'without Upgrade: websocket'
  if (elsewhere === '' && !/(?:^|,)\s*upgrade\s*(?:,|$)/i.test(ctx.get('Connection'))) return 'without Connection: Upgrade'
  if (version === '1.0') return 'by HTTP/1.0'
  return ctx.method !== 'GET' || ctx.get('Transfer-Encoding') !== '' || ctx.get('Content-Length') > 0 ? 'with a body' : ''
}

/** Nobody else sees why: a browser shows only the status. */
function report ({ app, path }, fault) {
  if (isReported || app.silent) return
  isReported = true
  process.emitWarning(`websocket: a handshake of ${path} came ${fault}: a proxy has to pass on Upgrade and Connection, by HTTP/1.1, as in ` +
    `kone/docs/api/https-http2.md (${manual('websocket')})`, { code: 'KONE_WARN_HANDSHAKE' })
}

/** RFC 9110, 7.8: Connection names the field. Only HTTP/1.1 has it. */
function upgradeTo (connection) {
  return { Upgrade: 'websocket', Connection: /\bclose\b/i.test(connection) ? 'close, Upgrade' : 'Upgrade' }
}

function reasonOf ({ app, path }) {
  if (elsewhere !== '') return `websocket: it works on Node only, and this is ${elsewhere} (${manual('websocket')})`
  if (typeof app.final !== 'function') return `websocket: it needs an app of kone, and this is Koa (${manual('websocket')})`
  return `websocket: the handshake of ${path} did not come through a server that kone can take it from. Give routes to app.use() by a router of the ` +
    `app or as websocket() itself, not inside of another function, and serve by app.listen(), app.attach() or app.callback() (${manual('websocket')})`
}
