'use strict'

/*
 * Apps as data, which acts make: a fuzzer generates them and a person reads them. A program is
 *
 *   { level: 'fast', ops: [['set', 'X-A', 'a\r\nb'], ['body', 'text']], later: [['set', 'X-Late', '1']] }
 *
 * `level` is how the request is written down:
 *
 *   fast          only what never touches ctx.req and ctx.res
 *   materialised  node's own objects from the first line on
 *   late          on the front until the body was read, then node's own objects
 *
 * `ops` run in order; each result and each throw is noted with the error's code. `later` runs at the step `release` or
 * `free`, when the response is usually out. `run` is the app of the fuzzer: a program per request. `observe` is that of the
 * corpus: its exchange has the level, and the target of a request picks the acts.
 */

const { It, readStream, stateOf } = require('./acts')
const { exchangeOf } = require('./harness')

/** Target → acts, once the body of the request is read. */
const TARGETS = {
  __proto__: null,
  '/hold': [['hold'], ['body', 'held']],
  '/held-stream': [['hold'], ['body', ['stream', 'a', 'b']]],
  '/stream': [['body', ['stream', 'one', 'two']]],
  '/empty-stream': [['body', ['stream']]],
  '/json': [['body', { some: 'json', ümläut: true }]],
  '/buffer': [['body', ['bytes', '000102ff']]],
  '/utf8': [['body', '€ ü 𝄞']],
  '/bytes': [['body', ['bytes', 'e5ad90']]],
  '/high': [['body', ['bytes', 'ff'.repeat(1000)]]],
  '/character': [['body', '子']],
  '/accent': [['body', 'é']],
  '/lone-surrogate': [['body', 'a\ud800']],
  '/large': [['body', 'x'.repeat(100_000)]],
  '/large-buffer': [['body', ['buffer', 'x'.repeat(100_000)]]],
  '/empty': [['body', '']],
  '/null': [['body', null]],
  '/nothing': [],
  '/204': [['status', 204]],
  '/205': [['status', 205], ['body', 'reset']],
  '/304': [['status', 304], ['set', 'ETag', '"x"']],
  '/304-chunked': [['status', 304], ['set', 'Transfer-Encoding', 'chunked']],
  '/299': [['status', 299], ['message', 'Odd'], ['body', 'odd']],
  '/message': [['message', 'Fine'], ['body', 'fine']],
  '/500': [['throw', 500, 'secret']],
  '/418': [['throw', 418, 'short', true]],
  '/close': [['set', 'Connection', 'close'], ['body', 'closing']],
  '/keep-alive': [['set', 'Connection', 'keep-alive'], ['body', 'kept']],
  '/connection-other': [['set', 'Connection', 'x-other'], ['body', 'other']],
  '/upgrade-header': [['set', 'Connection', 'upgrade'], ['body', 'up']],
  '/own-keep-alive': [['set', 'Keep-Alive', 'timeout=99'], ['body', 'own']],
  '/own-date': [['set', 'Date', 'today'], ['body', 'own']],
  '/own-chunked': [['set', 'Transfer-Encoding', 'chunked'], ['body', 'own']],
  '/own-length': [['body', 'four'], ['set', 'Content-Length', '4']],
  '/set-cookie': [['set', 'Set-Cookie', ['a=1', 'b=2']], ['cookie', 'c', '3'], ['body', 'set']],
  '/latin1': [['set', 'X-Latin', 'ü'], ['body', 'latin']],
  '/redirect': [['redirect', '/elsewhere?a=ü']],
  '/by-hand': [['noRespond'], ['writeHead', 201, 'Made', { 'X-By': 'hand' }], ['write', 'by '], ['resEnd', 'hand']],
  '/half': [['noRespond'], ['writeHead', 200, { 'Content-Length': 10 }], ['write', 'half']],
  '/destroy': [['socket.destroy']]
}

/** Operations that touch ctx.req or ctx.res. */
const TOUCHING = new Set(['resSetHeader', 'appendHeader', 'resRemoveHeader', 'writeHead', 'write', 'resEnd', 'trailers', 'hints', 'processing',
  'resHas', 'state', 'req', 'readStream', 'resume', 'destroyReq', 'destroyRes', 'throwIn'])

/** Middleware: the n-th request of a connection runs the n-th program of its exchange. */
async function run (ctx) {
  const exchange = exchangeOf(ctx)
  const { level = 'fast', ops = [], later = [] } = exchange.app[exchange.count % exchange.app.length] ?? {}
  exchange.request(ctx, level === 'materialised' ? materialised(ctx) : fast(ctx))
  const note = what => exchange.note(ctx, what)
  const it = new It(ctx, { note, others: exchange })
  let isWatched = false

  const perform = async one => {
    const [name] = one
    const endsTwice = name === 'end' && ctx.response.outgoing.writableEnded
    // Without a listener of its own a late error of a response would end the process. Whether a listener that comes after
    // the end is still notified of it is a matter of the same turn of the loop.
    if (!isWatched && (TOUCHING.has(name) || endsTwice || level === 'materialised')) {
      isWatched = true
      if (ctx.res.writableEnded) ctx.res.on('error', () => {})
      else watch(ctx, exchange, () => 'close')
    }
    try {
      const result = it.act(one)
      const value = result instanceof Promise ? await result : result
      if (value !== undefined && name !== 'hold') note(`${name} ${JSON.stringify(value)}`)
    } catch (err) {
      if (name === 'throw') throw err
      note(`${name} threw ${err.name} ${err.code}`)
    }
  }

  if (later.length && !exchange.isFree) {
    exchange.held().then(async () => {
      for (const op of later) await perform(op)
    })
  }
  if (level === 'late') await readFast(ctx, note)
  for (const op of ops) await perform(op)
}

/** Middleware of the corpus; `exchangeOf(ctx).app` is the level. */
async function observe (ctx) {
  const exchange = exchangeOf(ctx)
  const note = what => exchange.note(ctx, what)
  const level = exchange.app ?? 'fast'
  const path = ctx.url.split('?')[0]

  if (level === 'materialised') watch(ctx, exchange, () => `close ${JSON.stringify(stateOf(ctx.req, ctx.res))}`)
  exchange.request(ctx, level === 'materialised' ? materialised(ctx) : fast(ctx))
  if (!path.startsWith('/unread')) {
    if (level === 'materialised') await readStream(ctx.req, note)
    else await readFast(ctx, note)
  }
  if (level === 'late') note(JSON.stringify(materialised(ctx)))

  return new It(ctx, { note, others: exchange }).all(TARGETS[path] ?? [['body', `${ctx.method} ${ctx.url}`]])
}

function watch (ctx, exchange, closed) {
  const event = what => exchange.event(ctx, what)
  ctx.res.on('error', err => event(`error ${err.code}`))
  ctx.res.on('finish', () => event('finish'))
  ctx.res.on('close', () => event(closed()))
}

/** What the app sees of a request without touching node's objects. */
function fast (ctx) {
  const { headers } = ctx
  return {
    method: ctx.method,
    url: ctx.url,
    headers: Object.entries(headers),
    plain: Object.getPrototypeOf(headers) === Object.prototype
  }
}

/** The same and more, read from node's objects. */
function materialised ({ req, res }) {
  return {
    ...fast(req),
    rawHeaders: req.rawHeaders,
    distinct: Object.entries(req.headersDistinct),
    version: [req.httpVersion, req.httpVersionMajor, req.httpVersionMinor],
    // A pipelined response has no socket before its turn; when that is within one read is not compared.
    links: [req.client === req.socket, req.connection === req.socket, res.req === req, req.socket.server !== undefined,
      !res.socket || (res.socket === req.socket && req.socket._httpMessage === res)],
    state: stateOf(req, res)
  }
}

/** The body by the reader that never builds a stream. */
async function readFast (ctx, note) {
  try {
    const body = await ctx.request.readBody({ limit: 1e6 })
    note(`body ${body.length} ${body.toString('latin1').slice(0, 100)}`)
  } catch (err) {
    note(`body ${err.code} ${err.status}`)
  }
}

module.exports = { observe, run }
