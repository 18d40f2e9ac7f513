'use strict'

const { setTimeout: sleep } = require('node:timers/promises')

const { It, READERS } = require('../acts')
const { LIMIT, letterOf, patternOf } = require('./plan')

/*
 * The app of a conversation. The target of a request, `/client/request`, finds its handler in the plan:
 *
 *   kind     what the response is; see KINDS, and PATTERNS of plan.js
 *   size     of the body in characters; 'busy' also blocks the event loop for as many ms
 *   touches  acts that leave the response as it is, in front of it
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

function pieces (letter, size, most = CHUNK) {
  const whole = letter.repeat(Math.min(size, most))
  const all = Array(Math.floor(size / most)).fill(whole)
  return size % most === 0 ? all : [...all, letter.repeat(size % most)]
}

const PAGES = ['string', 'utf8', 'latin1', 'wide', 'surrogates', 'bytes', 'buffer']

/** Kind → (letter, size, method) => acts. */
const KINDS = {
  ...Object.fromEntries(PAGES.map(kind => [kind, (letter, size) => [['body', page(kind, letter, size)]]])),
  nothing: () => [],
  busy: (letter, size) => [['block', size], ['body', page('busy', letter, size)]],
  json: (letter, size) => [['body', { letter: page('string', letter, size) }]],
  file: (letter, size) => [['body', ['file', page('string', letter, size)]], ['length', size]],
  stream: (letter, size) => [['body', ['stream', ...pieces(letter, size)]]],
  drip: (letter, size) => [['body', ['dripping', ...pieces(letter, size, Math.ceil(size / 10) || 1)]]],
  'failing stream': letter => [['body', ['paced, broken', ...pieces(letter, 3000, 1000)]]],
  'late body': (letter, size) => [['turn'], ['body', page('string', letter, size)]],
  204: () => [['status', 204]],
  304: () => [['status', 304]],
  throw: () => [['throw']],
  /** The response by node's own means, at the pace of the client. */
  raw: (letter, size, method) => [
    ['noRespond'], ['resSetHeader', 'Content-Length', size], ['writeHead', 200],
    ['writeAll', ...method === 'HEAD' ? [] : pieces(letter, size)], ['resEnd']
  ],
  /** The next request of its connection ends it. */
  freed: (letter, size) => [['status', 200], ['leave', page('string', letter, size)]],
  /** By res.write() in every encoding, and Buffers. */
  pieces: letter => [
    ['noRespond'], ['resHas', 'statusCode', 200],
    ...['utf8', 'latin1', 'ucs2', 'base64', 'hex', undefined].flatMap(encoding => {
      const isCoded = encoding === 'base64' || encoding === 'hex'
      return [['write', isCoded ? Buffer.from(`${letter}子`).toString(encoding) : `${letter}é子`, encoding], ['write', ['bytes', 'fffe80']]]
    }),
    ['resEnd']
  ],
  stuck: (letter, size) => [['noRespond'], ['writeHead', 200, { 'Content-Length': size + 1 }], ['write', page('string', letter, size)], ['never']],
  hang: () => [['never']]
}

const DESTROYS = {
  before: ['socket.destroy'],
  after: ['soon', 'tick', ['socket.destroy']],
  later: ['soon', 'turn', ['socket.destroy']],
  res: ['destroyRes'],
  req: ['destroyReq']
}

function actsOf ({ kind, size, close, destroy, touches = [] }, letter, method) {
  return [
    ...touches, ...close ? [['set', 'Connection', 'close']] : [], ...destroy ? [DESTROYS[destroy]] : [], ...KINDS[kind](letter, size, method)
  ]
}

/** Responses that wait for the next request of their connection: socket → functions. */
const waiting = new WeakMap()

class Others {
  constructor (socket) {
    this.socket = socket
  }

  leave (ctx, body) {
    const { outgoing } = ctx.response
    const end = () => { if (!outgoing.writableEnded) outgoing.end(body) }
    if (!waiting.has(this.socket)) waiting.set(this.socket, [])
    waiting.get(this.socket).push(end)
    setTimeout(end, 60) // it may be the last one
  }

  /** Another request of this connection has begun: its handler ends the responses that wait. */
  release () {
    const all = waiting.get(this.socket) ?? []
    waiting.delete(this.socket)
    for (const end of all) end()
  }
}

/** The middleware of a conversation. */
module.exports = function (conversation, logOf) {
  return function siege (ctx) {
    const [, client, request] = ctx.path.split('/').map(Number)
    const { handler } = conversation.clients[client].requests[request]
    const log = logOf(client, request)
    const it = new It(ctx, { others: new Others(ctx.socket) })
    log.start(ctx)
    it.others.release()
    if (handler.listen) log.listen(ctx)
    if (handler.touch) log.watch(ctx.res)
    ctx.set('X-Id', `${client}.${request}`)
    const acts = actsOf(handler, letterOf(client, request), ctx.method)
    if (handler.read === 'too late') readTooLate(ctx, log)
    if (handler.late < 0 && (handler.read === '' || handler.read === 'too late')) return it.all(acts)
    return respondLater(it, handler, acts, log)
  }
}

async function respondLater (it, { read, late }, acts, log) {
  if (read === 'half') await half(it.req)
  else if (read !== '' && read !== 'too late') await log.body(readerOf(it, read))
  if (late === 0) await null
  else if (late > 0) await sleep(late)
  return it.all(acts)
}

function readerOf (it, read) {
  if (read === 'stream') return READERS['for await'](it)
  return it.ctx.request.readBody({ limit: read === 'limit' ? LIMIT : Infinity })
}

function half (req) {
  return new Promise(resolve => {
    req.once('data', () => { req.pause(); resolve() }).once('end', resolve).once('close', resolve).once('error', resolve)
  })
}

function readTooLate (ctx, log) {
  ctx.onFinished(() => {
    setImmediate(() => log.body(new Promise(resolve => resolve(ctx.request.readBody()))).catch(() => {}))
  })
}

module.exports.forget = forget
module.exports.KINDS = KINDS
