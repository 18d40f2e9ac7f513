'use strict'

const { Options, any, boolean, fieldName, fn, integer, number, object, off, oneOf, shape, string } = require('../../lib/shared/options')

const ONE_HOUR = 3600 * 1000 // ms

module.exports = new Options('rateLimit', {
  driver: oneOf('memory', 'redis').says('where requests are counted', { otherwise: '`redis` if `db` is a client, otherwise `memory`' }),
  // `driver` decides what it must be
  db: any.says('a client of `ioredis` or `redis`, or a Map that holds the newest windows', {
    otherwise: 'a new Map', type: 'RedisClient | Map<string, any>'
  }),
  duration: number({ min: 1, unit: 'ms' }).says('length of a window', { default: ONE_HOUR }),
  max: number({ min: 0, unit: 'requests' }).or(fn).says('what a client may send in a window, or `ctx => max`, which may return a promise', {
    default: 2500, type: 'number | ((ctx: Kone.Context) => number | Promise<number>)'
  }),
  id: fn.says('key that a request is counted under, or a promise of it; `false`: the request is not counted', {
    otherwise: '`ctx => ctx.ip`', type: '(ctx: Kone.Context) => string | false | Promise<string | false>'
  }),
  ipv6Subnet: integer({ min: 1, max: 128, unit: 'bits' }).says(
    'usually 64: all addresses of an IPv6 network of this size count as one client; excludes `id`'),
  namespace: string.says('prefix of the keys', { default: 'limit' }),
  headers: shape({
    remaining: fieldName.says('what may still be sent in this window', { default: 'X-RateLimit-Remaining' }),
    reset: fieldName.says('when this window ends', { default: 'X-RateLimit-Reset' }),
    total: fieldName.says('`max`', { default: 'X-RateLimit-Limit' })
  }).says('other names of the headers', { type: '{ remaining?: string, reset?: string, total?: string }' }),
  disableHeader: boolean.says('`true`: send none of these headers', { default: false }),
  standardHeaders: oneOf('draft-11').or(off).says(
    "`'draft-11'`: send `RateLimit` and `RateLimit-Policy`, too ([IETF fields](#ietf-fields))", { default: false }),
  errorMessage: string.or(object).says('body of the 429, text or object', { otherwise: '`Rate limit exceeded, retry in …`' }),
  status: integer({ min: 400, max: 599 }).says('4xx or 5xx', { default: 429 }),
  throw: boolean.says('throw the 429 instead of sending it', { default: false }),
  onLimited: fn.says('`ctx => *`, awaited; `ctx.state.rateLimit` is `{ after, headers, id, message }`', { type: '(ctx: Kone.Context) => any' }),
  whitelist: fn.says('`ctx => boolean`, which may return a promise; `true`: the client is not limited', { type: '(ctx: Kone.Context) => any' }),
  blacklist: fn.says('`ctx => boolean`, which may return a promise; `true`: the client gets a 403', { type: '(ctx: Kone.Context) => any' }),
  failOpen: boolean.says("let requests pass when the store fails, or does not respond within 5 s; the error goes to the app's " +
    "`'error'` event. `false`: a 503", { default: false })
})
