'use strict'

/*
 * A case is a request whose body one or two readers of acts.js read: plain data.
 *
 *   request   'none', 'empty', 'with its headers', 'in pieces', 'chunked' or 'chunked, in pieces'
 *   isForm    whether its body is a form
 *   ops       what the handler does: acts
 *
 * The same case runs on Koa, on kone with `http1: false`, and on the front. What Koa sends, if it comes to an end there, is
 * what must arrive, and each reader gets what it gets on Koa. Always:
 *
 *   - a response is whole, or its connection is closed at once and the response is reported as lost;
 *   - the next request of the connection is responded to, if the connection is not closed;
 *   - onFinished() is called once for each request;
 *   - app.close() takes no longer than it does for an idle connection.
 */

const net = require('node:net')
const { once } = require('node:events')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')
const { isDeepStrictEqual } = require('node:util')

const Koa = require('koa')
const onFinished = require('on-finished')

const Kone = require('../../helpers/kone')
const { It, OF_KONE } = require('./acts')
const { Responses } = require('./siege/responses')

/** Turns of the event loop in which nothing moves: then nothing will, unless a thread of the pool has work. */
const QUIET = 40

/** How long kone may be quiet, and app.close() take, in ms: what comes later is a failure. */
const PATIENCE = 3000

/** Of app.close(): it destroys what is left by then, in ms. */
const TIMEOUT = 60_000

/** So many cases may close their servers while another one runs. */
const CLOSING = 20

// ---- one case on one side

class Reading extends It {
  constructor (run, ctx) {
    super(ctx, { run, isKoa: run.isKoa, outcomes: run.outcomes })
  }

  act (one) {
    this.run.moved++
    return super.act(one)
  }

  async quiet (value) {
    await this.run.quiet()
    return value
  }
}

const SIDES = {
  koa: () => new Koa(),
  'node:http': () => new Kone({ http1: false }),
  front: () => new Kone()
}

class Run {
  constructor (side, plan) {
    this.side = side
    this.plan = plan
    this.isKoa = side === 'koa'
    this.moved = 0      // grows with everything that happens
    this.finished = []  // per request, how each call of onFinished() says that it ended
    this.outcomes = []
    this.isClosed = false
  }

  async start () {
    const app = this.app = SIDES[this.side]()
    app.silent = true
    app.on('error', () => { this.moved++ })
    app.use(ctx => this.handle(ctx))
    this.server = app.listen(0, '127.0.0.1')
    if (!this.server.listening) await once(this.server, 'listening')
    const client = this.client = net.connect({ port: this.server.address().port, host: '127.0.0.1', noDelay: true })
    this.responses = new Bodies(['POST', 'GET'])
    client.on('data', chunk => {
      this.moved++
      this.responses.push(chunk)
    })
    client.on('error', () => {}).on('close', () => {
      this.moved++
      this.isClosed = true
      this.responses.end()
    })
    await once(client, 'connect')
  }

  handle (ctx) {
    const calls = []
    const ended = err => {
      this.moved++
      calls.push(err?.code ?? null)
    }
    if (this.isKoa) onFinished(ctx.res, ended)
    else ctx.onFinished(ended)
    if (this.finished.push(calls) === 1) return new Reading(this, ctx).all(this.plan.ops)
    ctx.body = 'the next one'
  }

  /** Until nothing moves any more: bytes, events, files. */
  async quiet (turns = QUIET) {
    let before = -1
    for (let still = 0; still < turns; still++) {
      const now = this.moved + this.client.bytesWritten
      if (now !== before) still = 0
      before = now
      if (still === turns - 1 && process.getActiveResourcesInfo().some(name => name.startsWith('FSReq'))) still = 0
      await turn()
    }
  }

  /** Until `holds()`. Of Koa as long as something moves, because it may hang; of kone for longer, because it must not. */
  async until (holds) {
    const last = performance.now() + PATIENCE
    await this.quiet(8)
    if (this.isKoa && !holds()) return this.quiet()
    while (!holds() && performance.now() < last) await sleep(1)
  }

  async converse () {
    await this.start()
    const { client, plan, responses } = this
    for (const part of partsOf(plan)) {
      if (this.isClosed) break
      client.write(part)
      await this.quiet(8)
    }
    await this.until(() => this.isClosed || responses.whole.length > 0)
    await turn()
    if (!this.isClosed) {
      if (responses.whole.length > 0) client.write(NEXT)
      await this.until(() => this.isClosed || responses.whole.length > 1)
    }
    return {
      responses: responses.whole.map(shown),
      partial: responses.partial !== null || responses.begun,
      error: responses.error,
      isClosed: this.isClosed,
      outcomes: this.outcomes,
      finished: this.finished
    }
  }

  /** @return {Promise<boolean>} whether it takes no longer than it must */
  async close () {
    const { server, client } = this
    const closed = this.isKoa
      ? new Promise(resolve => server.close(resolve))
      : this.app.close({ timeout: TIMEOUT, grace: 0 })
    if (this.isKoa) server.closeAllConnections()
    let timer
    const late = new Promise(resolve => { timer = setTimeout(resolve, PATIENCE, true) })
    const isLate = await Promise.race([closed, late])
    clearTimeout(timer)
    if (isLate === true) server.closeAllConnections()
    await closed
    client.destroy()
    await turn()
    await turn()
    return isLate !== true
  }
}

/** Keeps the bodies. */
class Bodies extends Responses {
  take (bytes) {
    super.take(bytes);
    (this.partial.body ??= []).push(Buffer.from(bytes))
  }
}

function shown ({ status, headers, body = [] }) {
  const { date, 'keep-alive': alive, ...rest } = headers
  return { status, headers: rest, body: Buffer.concat(body).toString('latin1') }
}

const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'
const JSON_BODY = '{"some":"json"}'
const FORM = '--x\r\nContent-Disposition: form-data; name="some"\r\n\r\nfield\r\n--x--\r\n'

const bodyOf = ({ request, isForm }) => request === 'none' || request === 'empty' ? '' : isForm ? FORM : JSON_BODY

/** The bytes of the request, as they are written. */
function partsOf (plan) {
  const type = `Content-Type: ${plan.isForm ? 'multipart/form-data; boundary=x' : 'application/json'}\r\n`
  const start = 'POST / HTTP/1.1\r\nHost: a\r\n'
  const body = bodyOf(plan)
  const half = body.length >> 1
  const length = `${start}${type}Content-Length: ${body.length}\r\n\r\n`
  switch (plan.request) {
    case 'none': return [`${start}\r\n`]
    case 'empty': return [`${start}${type}Content-Length: 0\r\n\r\n`]
    case 'with its headers': return [length + body]
    case 'in pieces': return [length, body.slice(0, half), body.slice(half)]
    case 'chunked': return [`${start}${type}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`]
    case 'chunked, in pieces': return [`${start}${type}Transfer-Encoding: chunked\r\n\r\n`,
      `${half.toString(16)}\r\n${body.slice(0, half)}\r\n`, `${(body.length - half).toString(16)}\r\n${body.slice(half)}\r\n`, '0\r\n\r\n']
  }
}

const REQUESTS = ['none', 'empty', 'with its headers', 'in pieces', 'chunked', 'chunked, in pieces']

// ---- the oracle

/** A conversation; `closing` is a promise, so that the next one need not wait for it. */
async function record (side, plan) {
  const escaped = []
  const onEscape = err => escaped.push(err) // it would end the process
  process.on('uncaughtException', onEscape)
  const run = new Run(side, plan)
  try {
    return { ...await run.converse(), escaped, closing: run.close() }
  } finally {
    process.off('uncaughtException', onEscape)
  }
}

/** Did the conversation come to an end on Koa? */
function isGood ({ error, partial, responses, isClosed, escaped }) {
  return error === null && !partial && escaped.length === 0 && (responses.length === 2 || (isClosed && responses.length === 1))
}

/** One conversation at a time: what escapes is known by its time. */
let talking = Promise.resolve()

/** What is wrong with a case; [] when nothing is. */
async function judge (plan) {
  const talks = talking.then(() => converse(plan))
  talking = talks.catch(() => {})
  const all = await talks
  const found = []
  await Promise.all(Object.values(all).map(({ closing }) => closing))
  for (const side of ['node:http', 'front']) {
    const find = (what, detail) => found.push({ side, what, detail })
    if (!await all[side].closing) find('app.close() takes too long', `more than ${PATIENCE} ms`)
    judgeSide(plan, all, all[side], find)
  }
  return found
}

async function converse (plan) {
  const koa = await record('koa', plan)
  const inTurn = isTogether(plan) ? await record('koa', { ...plan, ops: plan.ops.map(inTurnOf) }) : koa
  return { koa, inTurn, 'node:http': await record('node:http', plan), front: await record('front', plan) }
}

/** Does a reader of kone's own read while another one does? From then on `ctx.req` shows a stream that has been read. */
function isTogether ({ ops }) {
  return ops.some(([name]) => name === 'begin to read') &&
    ops.some(([name, reader]) => (name === 'begin to read' || name === 'read') && OF_KONE.includes(reader))
}

const inTurnOf = one => one[0] === 'begin to read' ? ['read', one[1]] : one

function judgeSide (plan, { koa, inTurn }, kone, find) {
  const { responses: [first, second], isClosed, finished, escaped, partial } = kone
  if (kone.error !== null) find('the bytes are not HTTP', kone.error)
  if (escaped.length > koa.escaped.length) find('an error escapes', escaped.map(err => err?.stack).join('\n'))
  for (const [i, { length }] of finished.entries()) {
    if (length !== 1) find('onFinished() is not called once', `request ${i}: ${length} times`)
  }
  const isLost = finished[0]?.length > 0 && finished[0][0] !== null
  if (first === undefined) {
    if (!isClosed) find('neither a response nor a closed connection', partial ? 'a part of it came' : 'nothing came')
    else if (finished.length > 0 && !isLost) find('the response is cut, and reported as sent', JSON.stringify(finished))
  } else if (!isClosed && second === undefined) {
    find('the next request gets no response', show(first))
  } else if (isClosed && second === undefined && !isLost && !koa.isClosed && first.headers.connection !== 'close') {
    find('the connection is closed without a reason', show(first))
  }
  if (isGood(koa) && !isTogether(plan)) {
    for (const what of ['responses', 'isClosed']) {
      if (isDeepStrictEqual(kone[what], koa[what])) continue
      find(`${what} differ from Koa's`, `\n    Koa  ${show(koa[what])}\n    kone ${show(kone[what])}`)
    }
  } else if (first === undefined) {
    find('the response is cut', show({ isClosed, finished }))
  } else if (first.status !== 200 || first.body !== 'read') {
    find('a wrong response', show(first))
  }
  koa.outcomes.forEach((one, i) => {
    // `begin to read` has no outcome; read in turn it has.
    const same = inTurn.outcomes.filter(({ reader }) => reader === one.reader)
    judgeOutcome(plan, kone.outcomes[i], [one, ...same.slice(-1)], find)
  })
}

/**
 * What a reader gets: what it gets on Koa. Kone's own have errors of their own. Beside one of those another may also fail,
 * get what it gets behind that one, or all of the body: never a part. Where one waits for ever on Koa, it may on kone.
 */
function judgeOutcome (plan, kone, koas, find) {
  const [koa] = koas
  if (koas.some(one => one.silence || isDeepStrictEqual(one, kone))) return
  if (kone !== undefined && OF_KONE.includes(koa.reader) && !kone.silence) return
  if (isTogether(plan) && (kone?.error || isAll(plan, kone))) return
  find('a reader ends otherwise than on Koa', `${koa.reader}: ${show(kone)} in place of ${koas.map(show).join(' or ')}`)
}

/** finished() tells how many bytes it got. */
const isAll = (plan, { bytes } = {}) => bytes === bodyOf(plan) || bytes === `${bodyOf(plan).length} bytes`

function show (value) {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 400 ? `${text.slice(0, 300)}… ${text.length}` : text
}

module.exports = {
  REQUESTS,
  readers: {
    lanes: Array(CLOSING).fill(judge),
    /** A machine that stands still for seconds makes all wait. */
    confirm: judge,
    RULES: { lists: ['ops'], usual: { request: 'none' } },
    names: [],
    namesOf: () => []
  }
}
