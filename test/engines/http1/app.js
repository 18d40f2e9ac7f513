'use strict'

/*
 * The app of the corpus. It writes down what it saw of a request, on one of three levels, and its target picks the response:
 *
 *   fast          only what never touches ctx.req and ctx.res
 *   materialised  node's own objects from the first line on
 *   late          on the fast path until the body was read, then node's own objects
 */

const { Readable } = require('node:stream')
const { exchangeOf } = require('./harness')

const answers = {
  '/hold': async (ctx, exchange) => { await exchange.held(); ctx.body = 'held' },
  '/held-stream': async (ctx, exchange) => { await exchange.held(); ctx.body = Readable.from(['a', 'b']) },
  '/stream': ctx => { ctx.body = Readable.from(['one', 'two']) },
  '/empty-stream': ctx => { ctx.body = Readable.from([]) },
  '/json': ctx => { ctx.body = { some: 'json', ümläut: true } },
  '/buffer': ctx => { ctx.body = Buffer.from([0, 1, 2, 255]) },
  '/utf8': ctx => { ctx.body = '€ ü 𝄞' },
  '/bytes': ctx => { ctx.body = Buffer.from([0xe5, 0xad, 0x90]) },
  '/high': ctx => { ctx.body = Buffer.alloc(1000, 0xff) },
  '/character': ctx => { ctx.body = '子' },
  '/accent': ctx => { ctx.body = 'é' },
  '/lone-surrogate': ctx => { ctx.body = 'a\ud800' },
  '/large': ctx => { ctx.body = 'x'.repeat(100_000) },
  '/large-buffer': ctx => { ctx.body = Buffer.alloc(100_000, 'x') },
  '/empty': ctx => { ctx.body = '' },
  '/null': ctx => { ctx.body = null },
  '/nothing': () => {},
  '/204': ctx => { ctx.status = 204 },
  '/205': ctx => { ctx.status = 205; ctx.body = 'reset' },
  '/304': ctx => { ctx.status = 304; ctx.set('ETag', '"x"') },
  '/304-chunked': ctx => { ctx.status = 304; ctx.set('Transfer-Encoding', 'chunked') },
  '/299': ctx => { ctx.status = 299; ctx.message = 'Odd'; ctx.body = 'odd' },
  '/message': ctx => { ctx.message = 'Fine'; ctx.body = 'fine' },
  '/500': ctx => ctx.throw(500, 'secret'),
  '/418': ctx => ctx.throw(418, 'short'),
  '/close': ctx => { ctx.set('Connection', 'close'); ctx.body = 'closing' },
  '/keep-alive': ctx => { ctx.set('Connection', 'keep-alive'); ctx.body = 'kept' },
  '/connection-other': ctx => { ctx.set('Connection', 'x-other'); ctx.body = 'other' },
  '/upgrade-header': ctx => { ctx.set('Connection', 'upgrade'); ctx.body = 'up' },
  '/own-keep-alive': ctx => { ctx.set('Keep-Alive', 'timeout=99'); ctx.body = 'own' },
  '/own-date': ctx => { ctx.set('Date', 'today'); ctx.body = 'own' },
  '/own-chunked': ctx => { ctx.set('Transfer-Encoding', 'chunked'); ctx.body = 'own' },
  '/own-length': ctx => { ctx.body = 'four'; ctx.set('Content-Length', '4') },
  '/set-cookie': ctx => { ctx.set('Set-Cookie', ['a=1', 'b=2']); ctx.cookies.set('c', '3'); ctx.body = 'set' },
  '/latin1': ctx => { ctx.set('X-Latin', 'ü'); ctx.body = 'latin' },
  '/redirect': ctx => ctx.redirect('/elsewhere?a=ü'),
  '/by-hand': ctx => {
    ctx.respond = false
    ctx.res.writeHead(201, 'Made', { 'X-By': 'hand' })
    ctx.res.write('by ')
    ctx.res.end('hand')
  },
  '/half': ctx => {
    ctx.respond = false
    ctx.res.writeHead(200, { 'Content-Length': 10 })
    ctx.res.write('half')
  },
  '/destroy': ctx => { ctx.socket.destroy() }
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
    method: req.method,
    url: req.url,
    headers: Object.entries(req.headers),
    plain: Object.getPrototypeOf(req.headers) === Object.prototype,
    rawHeaders: req.rawHeaders,
    distinct: Object.entries(req.headersDistinct),
    version: [req.httpVersion, req.httpVersionMajor, req.httpVersionMinor],
    // A pipelined response has no socket before its turn; when that is within one read is not compared.
    links: [req.client === req.socket, req.connection === req.socket, res.req === req, req.socket.server !== undefined,
      !res.socket || (res.socket === req.socket && req.socket._httpMessage === res)],
    state: stateOf(req, res)
  }
}

/** In which state node's objects are. */
function stateOf (req, res) {
  return {
    // Before its end it depends on how much of a read was parsed when the handler went on.
    complete: req.readableEnded && req.complete,
    aborted: req.aborted,
    destroyed: req.destroyed,
    readable: req.readable,
    readableEnded: req.readableEnded,
    reqErrored: req.errored?.code ?? null,
    headersSent: res.headersSent,
    writableEnded: res.writableEnded,
    finished: res.finished,
    resDestroyed: res.destroyed,
    statusCode: res.statusCode,
    shouldKeepAlive: res.shouldKeepAlive,
    sendDate: res.sendDate,
    useChunked: res.useChunkedEncodingByDefault
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

/** The body as a stream, its end or its error. */
function readStream (req, note) {
  return new Promise(resolve => {
    const chunks = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('aborted', () => note('aborted'))
    req.on('error', err => { note(`req error ${err.code}`); resolve() })
    req.on('close', () => { note(`req close ${req.complete}`); resolve() })
    req.on('end', () => {
      const body = Buffer.concat(chunks)
      note(`body ${body.length} ${body.toString('latin1').slice(0, 100)}`)
      note(`trailers ${JSON.stringify(req.rawTrailers)}`)
      resolve()
    })
  })
}

/** Middleware of the corpus; `exchangeOf(ctx).app` is the level. */
async function observe (ctx) {
  const exchange = exchangeOf(ctx)
  const note = what => exchange.note(ctx, what)
  const level = exchange.app ?? 'fast'
  const path = ctx.url.split('?')[0]

  if (level === 'materialised') watch(ctx, exchange)
  exchange.request(ctx, level === 'materialised' ? materialised(ctx) : fast(ctx))
  if (!path.startsWith('/unread')) {
    if (level === 'materialised') await readStream(ctx.req, note)
    else await readFast(ctx, note)
  }
  if (level === 'late') note(JSON.stringify(materialised(ctx)))

  const answer = Object.hasOwn(answers, path) ? answers[path] : plain
  await answer(ctx, exchange)
}

function watch (ctx, exchange) {
  const { req, res } = ctx
  res.on('finish', () => exchange.event(ctx, 'finish'))
  res.on('close', () => exchange.event(ctx, `close ${JSON.stringify(stateOf(req, res))}`))
  res.on('error', err => exchange.event(ctx, `error ${err.code}`))
}

function plain (ctx) {
  ctx.body = `${ctx.method} ${ctx.url}`
}

module.exports = { fast, materialised, observe, readFast, readStream, stateOf }
