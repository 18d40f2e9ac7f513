'use strict'

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const koaCompose = require('koa-compose')
const kone = require('../lib/servers/kone')
const micro = require('./micro')

/*
 * Functions whose cost decided how they are written: `node micro/functions.js`, or `… compose` for the groups that begin so.
 */

const koneCompose = kone('lib/compose')
const run = fn => () => fn({})
const layers = {
  sync: n => Array.from({ length: n }, () => (ctx, next) => next()),
  async: n => Array.from({ length: n }, () => async (ctx, next) => { await next() })
}

// kone and koa-compose through n layers that do nothing but go on. koa-compose overflows the stack before 10,000.
const compose = Object.fromEntries(['sync', 'async'].flatMap(kind => [1, 5, 10, 100].map(n => [`compose, ${kind}, ${n} layers`, {
  'koa-compose': () => run(koaCompose(layers[kind](n))),
  kone: () => run(koneCompose(layers[kind](n)))
}])))
compose['compose, sync, many layers'] = {
  '1,000': () => run(koneCompose(layers.sync(1000))),
  '10,000': () => run(koneCompose(layers.sync(10_000)))
}

// A listener of ctx.onFinished() runs in the async context in which it was added: lib/context.js, and node's functions for it.
const listener = () => {}
const bind = resource => err => resource.runInAsyncScope(listener, null, err)
const finished = {
  'without a context': () => () => [listener][0](null),
  'an AsyncResource': () => () => bind(new AsyncResource('KONEFINISHED'))(null),
  'AsyncResource.bind': () => () => AsyncResource.bind(listener)(null),
  'AsyncLocalStorage.snapshot': () => () => AsyncLocalStorage.snapshot()(listener, null)
}

// `req` and `res` of a context of the front, as accessors of its prototype and as own ones, which `{ ...ctx }.req` needs.
const [base, incoming, outgoing] = [{ app: null }, { url: '/' }, {}]
const accessor = slot => ({ configurable: true, enumerable: true, get () { return this[slot] } })
const [req, res] = [accessor('incoming'), accessor('outgoing')]
const contextClass = isOwn => {
  function Context () {
    this.app = base
    this.request = null
    this.response = null
    this.incoming = incoming
    this.outgoing = outgoing
    if (isOwn) Object.defineProperties(this, { req, res })
    this.originalUrl = incoming.url
    this.state = {}
  }
  Context.prototype = isOwn ? base : Object.create(base, { req, res })
  return () => new Context()
}

// rateLimit in memory, by the number of addresses that send in turn. With 'a window each' a duration is as long as each
// of them needs for one request: each request begins a window, and another one is over.
const NS = 300 // of a request
const rateLimit = Object.fromEntries([1000, 100_000, 1_000_000].map(count => [`rateLimit, ${count} addresses`, {
  'a window each': () => requests(count, Math.max(1, count * NS / 1e6)),
  'in its window': () => requests(count, 3600e3)
}]))

function requests (count, duration) {
  const limit = kone('middleware/rateLimit')({ max: Number.MAX_SAFE_INTEGER, duration, disableHeader: true })
  const addresses = Array.from({ length: count }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  const ctx = { app: {}, ip: '' }
  const next = () => {}
  let i = 0
  const send = () => {
    ctx.ip = addresses[i = (i + 1) % count]
    limit(ctx, next)
  }
  for (let warm = 0; warm < count; warm++) send()
  return send
}

micro(__filename, {
  ...compose,
  'onFinished, add a listener and call it': finished,
  'context, req and res': { 'accessors of the prototype': () => contextClass(false), 'own properties': () => contextClass(true) },
  ...rateLimit
})
