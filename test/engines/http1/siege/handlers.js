'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Readable } = require('node:stream')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')

const { LIMIT, letterOf, patternOf } = require('./plan')

/*
 * The app of a conversation. The target of a request, `/client/request`, finds its handler in the plan:
 *
 *   kind     what the body is; see `respond`, and PATTERNS of plan.js; 'freed': the next request of its connection ends it;
 *            'pieces': by res.write() in every encoding, and Buffers
 *   size     of the body in characters; 'busy' also blocks the event loop for as many ms
 *   listen   ctx.onFinished() is called
 *   touch    ctx.res is touched, its 'finish' and 'close' are counted
 *   close    the response says `Connection: close`
 *   late     ms until the response, -1: synchronously
 *   read     of the request's body: '' not at all, 'body' by readBody(), 'limit' by one with a small limit,
 *            'stream' by ctx.req, 'half' paused behind its first chunk, 'too late' when the response is notified
 *   destroy  ctx.socket.destroy(): 'before' the body is set, 'after' (in the tick) or 'later' (in the next turn);
 *            'res' or 'req': their destroy() before the body is set
 */

const CHUNK = 32 * 1024

// Pages are shared, as those of an app are: memory in flight is what the engine adds.
const pages = new Map()

function page (kind, letter, size) {
  const key = `${kind} ${letter} ${size}`
  if (!pages.has(key)) {
    const pattern = patternOf(kind, letter)
    const body = typeof pattern === 'string' ? pattern.repeat(size) : Buffer.alloc(size * pattern.length, pattern)
    pages.set(key, kind === 'buffer' ? Buffer.from(body) : body)
  }
  return pages.get(key)
}

/** Forget the pages of a conversation. */
function forget () {
  pages.clear()
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-siege-'))
process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))

function file (letter, size) {
  const name = path.join(folder, `${letter}-${size}`)
  if (!fs.existsSync(name)) fs.writeFileSync(name, letter.repeat(size))
  return name
}

/** The middleware of a conversation. */
module.exports = function (conversation, logOf) {
  return function siege (ctx) {
    const [, client, request] = ctx.path.split('/').map(Number)
    const { handler } = conversation.clients[client].requests[request]
    const log = logOf(client, request)
    log.start(ctx)
    free(ctx.socket)
    if (handler.listen) log.listen(ctx)
    if (handler.touch) log.watch(ctx.res)
    ctx.set('X-Id', `${client}.${request}`)
    const letter = letterOf(client, request)
    if (handler.read === 'too late') readTooLate(ctx, log)
    if (handler.late < 0 && (handler.read === '' || handler.read === 'too late')) return respond(ctx, handler, letter)
    return respondLater(ctx, handler, letter, log)
  }
}

async function respondLater (ctx, handler, letter, log) {
  if (handler.read !== '') await read(ctx, handler.read, log)
  if (handler.late === 0) await null
  else if (handler.late > 0) await sleep(handler.late)
  return respond(ctx, handler, letter)
}

async function read (ctx, how, log) {
  if (how === 'too late') return
  if (how === 'half') {
    const { req } = ctx
    await new Promise(resolve => {
      req.once('data', () => { req.pause(); resolve() }).once('end', resolve).once('close', resolve).once('error', resolve)
    })
    return
  }
  const body = how === 'stream' ? collect(ctx.req) : ctx.request.readBody({ limit: how === 'limit' ? LIMIT : Infinity })
  await log.body(body)
}

async function collect (req) {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function readTooLate (ctx, log) {
  ctx.onFinished(() => {
    setImmediate(() => log.body(new Promise(resolve => resolve(ctx.request.readBody()))).catch(() => {}))
  })
}

function respond (ctx, handler, letter) {
  const { kind, size, destroy } = handler
  if (handler.close) ctx.set('Connection', 'close')
  if (destroy === 'before') ctx.socket.destroy()
  if (destroy === 'res' || destroy === 'req') ctx[destroy].destroy()
  if (destroy === 'after') process.nextTick(() => ctx.socket.destroy())
  if (destroy === 'later') setImmediate(() => ctx.socket.destroy())
  if (kind in KINDS) return KINDS[kind](ctx, letter, size)
  if (PAGES.includes(kind)) ctx.body = page(kind, letter, size)
}

const PAGES = ['string', 'utf8', 'latin1', 'wide', 'surrogates', 'bytes', 'buffer']

/** Kind → what sets the body, or responds by hand. Without one the response is a 404. */
const KINDS = {
  busy (ctx, letter, size) {
    block(size)
    ctx.body = page('busy', letter, size)
  },
  json: (ctx, letter, size) => { ctx.body = { letter: page('string', letter, size) } },
  file (ctx, letter, size) {
    ctx.body = fs.createReadStream(file(letter, size))
    ctx.length = size
  },
  stream: (ctx, letter, size) => { ctx.body = Readable.from(pieces(letter, size)) },
  drip: (ctx, letter, size) => { ctx.body = Readable.from(dripping(letter, size)) },
  'failing stream': (ctx, letter) => { ctx.body = Readable.from(failing(letter)) },
  'late body': async (ctx, letter, size) => {
    await turn()
    ctx.body = page('string', letter, size)
  },
  204: ctx => { ctx.status = 204 },
  304: ctx => { ctx.status = 304 },
  throw () { throw Object.assign(new Error('thrown by the siege'), { code: 'SIEGE' }) },
  raw,
  freed,
  pieces: pieceByPiece,
  stuck (ctx, letter, size) {
    ctx.respond = false
    ctx.res.writeHead(200, { 'Content-Length': size + 1 })
    ctx.res.write(page('string', letter, size))
    return new Promise(() => {})
  },
  hang: () => new Promise(() => {})
}

/** Responses that wait for the next request of their connection: socket → functions. */
const waiting = new WeakMap()

/** Another request of this connection has begun: its handler ends the responses that wait. */
function free (socket) {
  const all = waiting.get(socket) ?? []
  waiting.delete(socket)
  for (const end of all) end()
}

function freed (ctx, letter, size) {
  const { socket } = ctx
  const body = page('string', letter, size)
  ctx.respond = false
  ctx.status = 200
  const end = () => { if (!ctx.response.outgoing.writableEnded) ctx.response.outgoing.end(body) }
  if (!waiting.has(socket)) waiting.set(socket, [])
  waiting.get(socket).push(end)
  setTimeout(end, 60) // it may be the last one
}

function pieceByPiece (ctx, letter) {
  const { res } = ctx
  ctx.respond = false
  res.statusCode = 200
  for (const encoding of ['utf8', 'latin1', 'ucs2', 'base64', 'hex', undefined]) {
    const coded = encoding === 'base64' || encoding === 'hex'
    res.write(coded ? Buffer.from(`${letter}子`).toString(encoding) : `${letter}é子`, encoding)
    res.write(Buffer.from([0xff, 0xfe, 0x80]))
  }
  res.end()
}

function * pieces (letter, size) {
  const chunk = Buffer.alloc(Math.min(size, CHUNK), letter)
  for (let left = size; left > 0; left -= CHUNK) yield left >= CHUNK ? chunk : chunk.subarray(0, left)
}

async function * dripping (letter, size) {
  for (let left = size; left > 0; left -= Math.ceil(size / 10)) {
    yield Buffer.alloc(Math.min(left, Math.ceil(size / 10)), letter)
    await sleep(30)
  }
}

async function * failing (letter) {
  for (let i = 0; i < 3; i++) {
    yield Buffer.alloc(1000, letter)
    await sleep(2)
  }
  throw Object.assign(new Error('failed by the siege'), { code: 'SIEGE' })
}

/** Nothing else runs for so many ms. It takes no CPU, because how much a busy loop takes depends on the machine's load. */
function block (ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** The response by node's own means, at the pace of the client. */
async function raw (ctx, letter, size) {
  const { res } = ctx
  ctx.respond = false
  res.setHeader('Content-Length', size)
  res.writeHead(200)
  for (const chunk of ctx.method === 'HEAD' ? [] : pieces(letter, size)) {
    if (res.destroyed) return
    if (!res.write(chunk)) {
      await new Promise(resolve => {
        const done = () => {
          res.off('drain', done).off('close', done)
          ctx.socket.off('close', done)
          resolve()
        }
        res.on('drain', done).on('close', done)
        ctx.socket.on('close', done)
      })
    }
  }
  res.end()
}

module.exports.forget = forget
