'use strict'

const { isDate } = require('util').types
const { Options, Rule, any, boolean, each, fn, isObject, none, number, object, oneOf, refused, shape, string, text } = require('../../lib/shared/options')

// Browsers ignore an expiry after the year 9999 (RFC 6265, 5.1.1), and keep no cookie for longer than 400 days.
const MAX_AGE = 2.5e14 // ms, which ends before it
const MAX_DATE = Date.UTC(9999, 11, 31, 23, 59, 59)

const maxAge = number({ min: 0, max: MAX_AGE, unit: 'ms' }).or(oneOf('session'))
const expires = new Rule('a Date up to the year 9999', value => isDate(value) && Number(value) <= MAX_DATE)

// What options.cookie() returns; attributes of a wrong type count as left out, as in koa-session-minimal.
const RETURNED = shape({
  maxAge: new Rule(`at most ${MAX_AGE} ms`, value => !(value > MAX_AGE)),
  expires: expires.or(none)
}, { open: true })

const ATTRIBUTES = {
  maxAge: maxAge.says("at most 2.5e14, because browsers read no date after 9999; 0 or `'session'`: the cookie expires when the browser closes, the " +
    'stored record after a day', { otherwise: '0' }),
  path: string.says('paths that get the cookie', { otherwise: "`'/'`" }),
  domain: string.says('domain of the cookie'),
  httpOnly: boolean.says('hides the cookie from scripts of a page', { otherwise: '`true`' }),
  secure: boolean.says('with `true`, plain HTTP throws instead of sending the cookie', { otherwise: '`ctx.secure`' }),
  sameSite: oneOf('strict', 'lax', 'none', true, false).or(none).says('whether requests from other sites carry the cookie; browsers take `none` over HTTPS only', {
    otherwise: "`'lax'`"
  }),
  signed: boolean.says('sign the cookie with `app.keys`; rarely needed: ids are random, and sealed cookies are authenticated', {
    otherwise: '`false`'
  }),
  priority: oneOf('low', 'medium', 'high').says('how long a browser with too many cookies keeps this one'),
  partitioned: boolean.says("`true`: each site that embeds the app has a cookie of its own, over HTTPS and with `sameSite: 'none'`", { otherwise: '`false`' })
}
const beside = Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, rule]) => [name, rule.says(
  'as in `cookie`, for the options of koa-session', { otherwise: undefined, unit: undefined })]))

const OPTIONS = new Options('session', {
  key: text.says("name of the cookie, prefix of the store's keys", { default: 'koa:sess' }),
  store: object.or(none).says('`get(id)`, `set(id, session, ttl)`, `destroy(id)`; ttl is in ms; each may return a value or a ' +
    'promise', { otherwise: "this process' memory", type: 'Store | SealedCookie' }),
  cookie: shape({ ...ATTRIBUTES, overwrite: boolean, expires }).or(fn).or(none).says('attributes of the cookie, or `ctx => attributes`', {
    type: 'Cookie | ((ctx: Kone.Context) => Cookie)', unit: undefined
  }),
  rolling: boolean.says('extend every session and send its cookie with every response, so that `maxAge` starts again', { default: false }),
  renew: boolean.says('like `rolling`, but only when less than half of `maxAge` is left', { default: false }),
  lazy: boolean.says('read the store only when `await ctx.sessionHandler.load()` is called; not with `rolling` or `renew`', {
    default: false
  }),
  genid: fn.says('`ctx => id`, a new id of 16 to 256 of the characters `A-Z a-z 0-9 _ . ~ -`; nobody may be able to guess it', {
    otherwise: '24 random bytes', type: '(ctx: Kone.Context) => string'
  }),
  valid: fn.says('`(ctx, session) => boolean`; with `false` the session is not used, and the client gets an empty one with a new id', {
    type: '(ctx: Kone.Context, session: any) => boolean'
  }),
  externalKey: new Rule('an object with the functions get and set', value => isObject(value) &&
    typeof value.get === 'function' && typeof value.set === 'function').says(
    '`get(ctx)` reads and `set(ctx, id)` sends the id [in another way](#an-id-in-a-header) than by a cookie; neither may be async', {
      otherwise: 'the cookie', type: '{ get (ctx: Kone.Context): string | undefined, set (ctx: Kone.Context, id: string): void }'
    }),
  beforeSave: fn.says('`(ctx, session) => {}` may change a session that is about to be saved; it may not be async', {
    type: '(ctx: Kone.Context, session: any) => void'
  }),
  ...beside,
  ...each(oneOf(true), 'overwrite', 'autoCommit'),
  ...each(refused('take `store: session.sealedCookie({ keys })`, which encrypts'), 'encode', 'decode'),
  ...each(refused('ids are random and need none; with `signed: true` app.keys sign the cookie'), 'secret', 'keys'),
  prefix: refused('`key` is the prefix of the store\'s keys'),
  ContextStore: refused('take `store`, one for all requests')
})

const sealedCookie = new Options('session.sealedCookie()', { keys: any.says('of 32 bytes or more', { type: 'Array<string | Uint8Array>' }) })

module.exports = Object.assign(OPTIONS, { ATTRIBUTES, RETURNED, maxAge, sealedCookie })
