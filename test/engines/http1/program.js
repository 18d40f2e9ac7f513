'use strict'

/*
 * Apps as data, so that a fuzzer can make them and a person can read them: a program is a list of operations,
 *
 *   { level: 'fast', ops: [['set', 'X-A', 'a\r\nb'], ['body', 'text']], later: [['set', 'X-Late', '1']] }
 *
 * `level` is how the request is written down (see app.js). `ops` run in order; each result and each throw is noted with
 * the error's code. `later` runs at the step `release` or `free`, when the response is usually out.
 */

const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const { fast, materialised, readFast, readStream, stateOf } = require('./app')
const { exchangeOf } = require('./harness')

const OPS = {
  // Koa's words, on the fast path
  set: (ctx, name, value) => ctx.set(name, value),
  setMany: (ctx, fields) => ctx.set(fields),
  append: (ctx, name, value) => ctx.append(name, value),
  remove: (ctx, name) => ctx.remove(name),
  has: (ctx, name) => ctx.response.has(name),
  get: (ctx, name) => ctx.response.get(name),
  status: (ctx, code) => { ctx.status = code },
  message: (ctx, text) => { ctx.message = text },
  body: (ctx, value) => { ctx.body = make(value) },
  length: (ctx, value) => { ctx.length = value },
  type: (ctx, value) => { ctx.type = value },
  vary: (ctx, value) => ctx.vary(value),
  redirect: (ctx, value) => ctx.redirect(value),
  cookie: (ctx, name, value) => { ctx.cookies.set(name, value) },
  throw: (ctx, ...args) => { throw Object.assign(new Error(args[1] ?? 'thrown'), { status: args[0], expose: args[2], headers: args[3] }) },
  see: ctx => [ctx.status, ctx.message, ctx.length, ctx.type, ctx.headerSent, ctx.response.header],
  field: (ctx, name) => [ctx.get(name), ctx.headers[name.toLowerCase()]],
  about: ctx => [ctx.method, ctx.url, ctx.path, ctx.querystring, ctx.host, ctx.protocol, ctx.length, ctx.request.length,
    ctx.is('json'), ctx.accepts('html', 'json'), ctx.fresh, ctx.href],
  noRespond: ctx => { ctx.respond = false },
  readBody: (ctx, limit) => readBody(ctx, limit),
  hold: ctx => exchangeOf(ctx).held(),
  tick: () => Promise.resolve(),
  turn: () => turn(),

  // node's words, on the fast path
  setHeader: (ctx, name, value) => { ctx.response.outgoing.setHeader(name, value) },
  appendHeader: (ctx, name, value) => { ctx.response.outgoing.appendHeader(name, value) },
  removeHeader: (ctx, name) => { ctx.response.outgoing.removeHeader(name) },
  getHeader: (ctx, name) => ctx.response.outgoing.getHeader(name),
  hasHeader: (ctx, name) => ctx.response.outgoing.hasHeader(name),
  headers: ctx => [ctx.response.outgoing.getHeaderNames(), ctx.response.outgoing.getHeaders()],
  flush: ctx => ctx.response.outgoing.flushHeaders(),
  statusCode: (ctx, code) => { ctx.response.outgoing.statusCode = code },
  statusMessage: (ctx, text) => { ctx.response.outgoing.statusMessage = text },
  end: (ctx, value) => { ctx.response.outgoing.end(make(value)) },

  // node's objects
  resSetHeader: (ctx, name, value) => { ctx.res.setHeader(name, value) },
  resRemoveHeader: (ctx, name) => { ctx.res.removeHeader(name) },
  writeHead: (ctx, ...args) => { ctx.res.writeHead(...args) },
  write: (ctx, value, encoding) => ctx.res.write(make(value), encoding),
  resEnd: (ctx, value) => { ctx.res.end(make(value)) },
  trailers: (ctx, fields) => ctx.res.addTrailers(fields),
  // behind the end node would write both into the next response
  hints: (ctx, fields) => { if (!ctx.res.writableEnded) ctx.res.writeEarlyHints(fields) },
  processing: ctx => { if (!ctx.res.writableEnded) ctx.res.writeProcessing() },
  resHas: (ctx, name, value) => { ctx.res[name] = value },
  // A turn later: within one read it depends on how much of that read is parsed.
  state: async ctx => {
    const { req, res } = ctx
    await turn()
    return stateOf(req, res)
  },
  req: ctx => [ctx.req.method, ctx.req.url, ctx.req.rawHeaders, ctx.req.httpVersion],
  readStream: (ctx, value, note) => readStream(ctx.req, note),
  resume: ctx => { ctx.req.resume() },
  destroyReq: ctx => { ctx.req.destroy() },
  destroyRes: ctx => { ctx.res.destroy() },

  // what others do
  release: ctx => { exchangeOf(ctx).release() },
  endAnother: ctx => { exchangeOf(ctx).endAnother('by another') },
  leave: ctx => {
    ctx.respond = false
    exchangeOf(ctx).leave(ctx)
  },
  throwWhenFinished: ctx => ctx.onFinished(() => { throw new Error('thrown by the fuzzer') }),
  throwIn: (ctx, event) => { ctx.res.once(event, () => { throw new Error('thrown by the fuzzer') }) }
}

/** Operations that touch ctx.req or ctx.res. */
const TOUCHING = new Set(['resSetHeader', 'resRemoveHeader', 'writeHead', 'write', 'resEnd', 'trailers', 'hints', 'processing',
  'resHas', 'state', 'req', 'readStream', 'resume', 'destroyReq', 'destroyRes', 'throwIn'])

async function readBody (ctx, limit) {
  const body = await ctx.request.readBody({ limit })
  return `${body.length} ${body.toString('latin1').slice(0, 200)}`
}

/**
 * A body from its description: `['buffer', 'abc']`, `['bytes', 'e5ff']`, `['view', 'abc']`, `['stream', 'a', 'b']`,
 * `['broken', 'a']`, or what it is.
 */
function make (value) {
  if (!Array.isArray(value)) return value
  const [kind, ...parts] = value
  if (kind === 'buffer') return Buffer.from(parts.join(''))
  if (kind === 'bytes') return Buffer.from(parts[0], 'hex')
  if (kind === 'view') return new Uint8Array(Buffer.from(`..${parts[0]}..`, 'latin1')).subarray(2, -2)
  if (kind === 'stream') return Readable.from(parts.map(part => Buffer.from(part)), { objectMode: false })
  return new Readable({
    read () {
      if (parts.length) this.push(parts.shift())
      else this.destroy(Object.assign(new Error('broken'), { code: 'EBROKEN' }))
    }
  })
}

/** Middleware: the n-th request of a connection runs the n-th program of its exchange. */
async function run (ctx) {
  const exchange = exchangeOf(ctx)
  const { level = 'fast', ops = [], later = [] } = exchange.app[exchange.count % exchange.app.length] ?? {}
  exchange.request(ctx, level === 'materialised' ? materialised(ctx) : fast(ctx))
  const note = what => exchange.note(ctx, what)
  let watched = false

  const perform = async ([name, ...args]) => {
    const endsTwice = name === 'end' && ctx.response.outgoing.writableEnded
    if (!watched && (TOUCHING.has(name) || endsTwice || level === 'materialised')) watch()
    try {
      const result = OPS[name](ctx, ...args, ...(name === 'readStream' ? [null, note] : []))
      const value = result instanceof Promise ? await result : result
      if (value !== undefined && name !== 'hold') note(`${name} ${JSON.stringify(value)}`)
    } catch (err) {
      if (name === 'throw') throw err
      note(`${name} threw ${err.name} ${err.code}`)
    }
  }

  // Without a listener of its own a late error of a response would end the process. Whether a listener that comes after
  // the end is still notified of it is a matter of the same turn of the loop.
  function watch () {
    watched = true
    const { res } = ctx
    const event = what => exchange.event(ctx, what)
    const isLate = res.writableEnded
    res.on('error', err => isLate || event(`error ${err.code}`))
    if (isLate) return
    res.on('finish', () => event('finish'))
    res.on('close', () => event('close'))
  }

  if (later.length && !exchange.isFree) {
    exchange.held().then(async () => {
      for (const op of later) await perform(op)
    })
  }
  if (level === 'late') await readFast(ctx, note)
  for (const op of ops) await perform(op)
}

module.exports = { OPS, TOUCHING, run }
