'use strict'

const { Options, Rule, boolean, fn, integer, list, object, oneOf } = require('../../lib/shared/options')
const { LONGEST } = require('../../lib/shared/timers')
const { SEVERAL } = require('../_shared/origin')

const token = new Rule('a token', value => typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value), undefined, 'string')

module.exports = new Options('websocket', {
  origins: oneOf('*').or(SEVERAL).or(fn).says("pages of which origins may connect beside those of the request's own host and port: an array of origins and " +
    "of regular expressions that match a whole origin, `(origin, ctx) => boolean`, which may return a promise, or `'*'`", {
    otherwise: 'no other', type: "'*' | ReadonlyArray<string | RegExp> | ((origin: string, ctx: Kone.Context) => boolean | Promise<boolean>)"
  }),
  requireOrigin: boolean.says('refuse clients that send no Origin, which are no browsers', { default: false }),
  protocols: list(token, 'tokens').or(fn).says('the subprotocols in the order of preference, or `(offered, ctx) => string | false`; of a client that offers no ' +
    'other one the browser ends the connection', {
    otherwise: 'none is accepted', type: 'readonly string[] | ((offered: Set<string>, ctx: Kone.Context) => string | false)'
  }),
  maxPayload: integer({ min: 1, unit: 'bytes' }).says('the largest message, and what is held until the handler reads; a larger one closes the connection with 1009', { default: 1_048_576 }),
  maxBufferedAmount: integer({ min: 1, unit: 'bytes' }).says('what may wait for the client of sends that nobody awaits; more closes the connection with 1013', { default: 1_048_576 }),
  maxConnections: integer({ min: 1 }).says('open connections of this route in this process; further ones get 503', { otherwise: 'no limit' }),
  heartbeat: integer({ min: 0, max: LONGEST, unit: 'ms' }).says('time between pings; a client that has not responded to two is disconnected. 0: no pings', { default: 25_000 }),
  perMessageDeflate: boolean.or(object).says("ws's option: compression, which needs much memory per connection", { default: false }),
  ws: new Rule('the package ws', value => typeof value?.WebSocketServer === 'function', undefined, 'any').says('ws itself, if kone cannot require it', { otherwise: "`require('ws')`" })
})
