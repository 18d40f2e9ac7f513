'use strict'

/*
 * The late touch: other code reads `ctx.req` or `ctx.res` for the first time, patches a method, sets a body, ends, writes
 * or destroys at any moment of a request, also while its response is sent.
 *
 *    node test/engines/http1/late-touch.js --seconds 60
 *
 *   --table        `table()` first: each moment × what is touched × body (without --cases or --seconds it alone)
 *   --step N       of the table every N-th case alone,
 *   --from N       from this one on (default 0)
 *
 * and the flags of generator.js.
 *
 * A case is plain data, acts (see acts.js) at moments:
 *
 *   request   'none', 'empty', 'with its headers', 'in pieces' or 'chunked': the body of the request
 *   method    of the request
 *   patched   [which, method]: a prototype that is patched before the request comes, or null
 *   replaced  whether the app replaces handleRequest, as egg does
 *   ops       what the handler does; the response begins at their end
 *   between, behind, end, finished, later
 *             acts between two chunks of the body, behind its last one, in its 'end', in onFinished(), and when the client
 *             has the response
 *
 * The same case runs on Koa, on kone with `http1: false`, and on the front. What Koa sends, if it comes to an end there, is
 * what must arrive, and what `expected()` of acts.js gives. Always:
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
const { random } = require('../../helpers/random')
const { GROUPS, It, OF_KONE, READERS, STREAMS, cuts, expected, responds, samples, watched } = require('./acts')
const { main } = require('./generator')
const { Responses } = require('./siege/responses')

/** Turns of the event loop in which nothing moves: then nothing will, unless a thread of the pool has work. */
const QUIET = 40

/** How long kone may be quiet, and app.close() take, in ms: what comes later is a failure. */
const PATIENCE = 3000

/** Of app.close(): it destroys what is left by then, in ms. */
const TIMEOUT = 60_000

/** So many cases may close their servers while another one runs. */
const CLOSING = 20

const MOMENTS = ['between', 'behind', 'end', 'finished', 'later']

// ---- one request, as acts see it

class Touched extends It {
  constructor (run, ctx, moments) {
    super(ctx, { run, moments, isKoa: run.isKoa, outcomes: [], done: new Set() })
  }

  /** The acts of a moment, once. A promise if one of them has to be awaited. */
  at (moment) {
    if (this.done.has(moment)) return
    this.done.add(moment)
    const acts = this.moments[moment]
    if (acts?.length > 0) return this.all(acts)
  }

  /** What an act throws belongs to the app, which catches it. */
  act (one) {
    this.run.moved++
    try {
      return super.act(one)
    } catch (err) {
      if (one[0] === 'throw') throw err
    }
  }

  onFinished (fn) {
    if (this.isKoa) onFinished(this.ctx.res, fn)
    else super.onFinished(fn)
  }

  async quiet (value) {
    await this.run.quiet()
    return value
  }

  undone (undo) { this.run.undos.push(undo) }
  undo () { this.run.undo() }
  called (name, message) { this.run.called(name, message) }
}

// ---- one case on one side

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
    this.undos = []
    this.calls = []     // of patched methods
    this.finished = [[], []]
    this.outcomes = []
    this.isClosed = false
    this.its = []
  }

  async start () {
    const { plan } = this
    const app = this.app = SIDES[this.side]()
    app.silent = true
    app.on('error', () => { this.moved++ })
    app.use(ctx => this.handle(ctx))
    const { handleRequest } = app
    if (plan.replaced) app.handleRequest = function (...args) { return handleRequest.apply(this, args) }
    this.server = app.listen(0, '127.0.0.1')
    if (!this.server.listening) await once(this.server, 'listening')
    const client = this.client = net.connect({ port: this.server.address().port, host: '127.0.0.1', noDelay: true })
    this.responses = new Bodies([plan.method, 'GET'])
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
    const index = this.its.length
    const { plan } = this
    const it = new Touched(this, ctx, index === 0 ? plan : {})
    this.its.push(it)
    it.onFinished(err => {
      this.moved++
      this.finished[index].push(err?.code ?? null)
    })
    if (index > 0) {
      ctx.body = 'the next one'
      return
    }
    this.outcomes = it.outcomes
    if (plan.finished.length > 0) it.onFinished(() => it.at('finished'))
    const done = it.all(plan.ops)
    const watch = () => {
      if (plan.end.length > 0 && typeof ctx.body?.on === 'function') ctx.body.on('end', () => it.at('end'))
    }
    return done instanceof Promise ? done.then(watch) : watch()
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
    if (plan.patched !== null) this.undone(watched(this, ...plan.patched))
    for (const part of partsOf(plan)) {
      if (this.isClosed) break
      client.write(part)
      await this.quiet(8)
    }
    await this.until(() => this.isClosed || responses.whole.length > 0)
    this.its[0]?.at('later')
    await turn()
    this.calls.length = 0
    if (!this.isClosed) {
      if (responses.whole.length > 0) client.write(NEXT)
      await this.until(() => this.isClosed || responses.whole.length > 1)
    }
    return {
      responses: responses.whole.map(shown),
      partial: responses.partial !== null || responses.begun,
      error: responses.error,
      isClosed: this.isClosed,
      calls: [...new Set(this.calls)],
      outcomes: this.outcomes
    }
  }

  /** A patched method of a request or a response, be it one of another server in this process. */
  called (name, message) {
    if ((message.req ?? message).socket?.server === this.server) this.calls.push(name)
  }

  undone (undo) { this.undos.push(undo) }
  undo () { for (const undo of this.undos.splice(0).reverse()) undo() }

  /** @return {Promise<boolean>} whether it takes no longer than it must */
  async close () {
    this.undo()
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
  const { method, request, isForm = false } = plan
  const type = `Content-Type: ${isForm ? 'multipart/form-data; boundary=x' : 'application/json'}\r\n`
  const start = `${method} / HTTP/1.1\r\nHost: a\r\n`
  const body = bodyOf(plan)
  const half = body.length >> 1
  const length = `${start}${type}Content-Length: ${body.length}\r\n\r\n`
  switch (request) {
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
    const found = await run.converse()
    return { ...found, escaped, finished: run.finished, handled: run.its.length, closing: run.close() }
  } finally {
    process.off('uncaughtException', onEscape)
  }
}

/** Did the conversation come to an end on Koa? */
function isGood ({ error, partial, responses, isClosed, escaped }) {
  return error === null && !partial && escaped.length === 0 && (responses.length === 2 || (isClosed && responses.length === 1))
}

/** One conversation at a time: patches are those of the process. */
let talking = Promise.resolve()

/**
 * What is wrong with a case; [] when nothing is.
 *
 *    (await judge(generate(1))).forEach(({ side, what, detail }) => …)
 */
async function judge (plan) {
  const talks = talking.then(() => converse(plan))
  talking = talks.catch(() => {})
  const { koa, inTurn, ...kone } = await talks
  const inTime = await Promise.all([koa, inTurn, ...Object.values(kone)].map(({ closing }) => closing))
  return verdict(plan, { koa, inTurn, ...kone }, inTime.slice(2))
}

async function converse (plan) {
  const koa = await record('koa', plan)
  const kone = { 'node:http': await record('node:http', plan), front: await record('front', plan) }
  return { koa, inTurn: isTogether(plan) ? await record('koa', { ...plan, ops: plan.ops.map(inTurnOf) }) : koa, ...kone }
}

/** Does a reader of kone's own read while another one does? From then on `ctx.req` shows a stream that has been read. */
function isTogether ({ ops }) {
  return ops.some(([name]) => name === 'begin to read') &&
    ops.some(([name, reader]) => (name === 'begin to read' || name === 'read') && OF_KONE.includes(reader))
}

const inTurnOf = one => one[0] === 'begin to read' ? ['read', one[1]] : one

function verdict (plan, { koa, inTurn, ...kone }, inTime) {
  const found = []
  const isKoas = isGood(koa) && !['ops', ...MOMENTS].some(moment => plan[moment].some(lies))
  const isUnknown = MOMENTS.some(moment => plan[moment].some(one => cuts(one) || (isAtOnce(plan) && lies(one))))
  const mustBe = isUnknown ? null : expected(plan.ops, plan.method)
  // What is set before the first chunk is sent still counts: on Koa all of it, on kone the status.
  const isEarly = isAtOnce(plan) && [...plan.between, ...plan.behind].some(responds)
  const find = (side, what, detail) => found.push({ side, what, detail })
  if (isEarly && mustBe !== null) delete mustBe.status
  else if (isKoas && mustBe !== null) {
    const wrong = mismatch(koa.responses[0], mustBe)
    if (wrong) find('koa', 'acts.js expects something else', wrong)
  }
  const own = koa.escaped.find(err => err.code === undefined)
  if (own) find('koa', 'the test itself fails', own.stack)
  for (const [i, side] of Object.keys(kone).entries()) {
    // What an app itself sends by node's response is its own matter: on node:http always, on the front before kone has begun.
    const isNodes = side === 'node:http' || plan.patched !== null
    if (!isKoas && (isNodes ? ['ops', ...MOMENTS] : ['ops']).some(moment => plan[moment].some(isByHand))) continue
    if (!inTime[i]) find(side, 'app.close() takes too long', `more than ${PATIENCE} ms`)
    judgeSide(plan, koa, kone[side], { isKoas, inTurn, mustBe }, (what, detail) => find(side, what, detail))
  }
  return found
}

/** Koa sends what it sets, kone what is true. */
const lies = ([name]) => name === 'declare' || name === 'coding'

const isByHand = one => cuts(one) || one[0] in GROUPS.response

/** Then the second chunk may be read before the first one is sent. */
const isAtOnce = ({ ops }) => ops.some(([, value]) => Array.isArray(value) && value[0] === 'stream')

const destroys = ([name]) => name in GROUPS.fail

const mayClose = ({ finished }, { headers }) => headers.connection === 'close' || finished.some(destroys)

function judgeSide (plan, koa, kone, { isKoas, inTurn, mustBe }, find) {
  const { responses: [first, second], isClosed, finished, handled, escaped, partial } = kone
  if (kone.error !== null) find('the bytes are not HTTP', kone.error)
  if (escaped.length > koa.escaped.length) find('an error escapes', escaped.map(err => err?.stack).join('\n'))
  for (let i = 0; i < handled; i++) {
    if (finished[i].length !== 1) find('onFinished() is not called once', `request ${i}: ${finished[i].length} times`)
  }
  const isLost = finished[0].length > 0 && finished[0][0] !== null
  if (first === undefined) {
    if (!isClosed) find('neither a response nor a closed connection', partial ? 'a part of it came' : 'nothing came')
    else if (handled > 0 && !isLost) find('the response is cut, and reported as sent', JSON.stringify(finished))
  } else if (!isClosed && second === undefined) {
    find('the next request gets no response', show(first))
  } else if (isClosed && second === undefined && !isLost && !koa.isClosed && !mayClose(plan, first)) {
    find('the connection is closed without a reason', show(first))
  }
  // kone's onFinished() is called a tick later than on-finished: only then has node let go of the request.
  if (isKoas && !isTogether(plan) && !plan.finished.some(destroys)) {
    for (const what of ['responses', 'isClosed', 'calls']) {
      if (!isDeepStrictEqual(kone[what], koa[what])) find(`${what} differ from Koa's`, `\n    Koa  ${show(koa[what])}\n    kone ${show(kone[what])}`)
    }
  } else if (first !== undefined && mustBe !== null) {
    const wrong = mismatch(first, mustBe)
    if (wrong) find('a wrong response', wrong)
  } else if (mustBe?.isWhole && first === undefined) {
    find('the response is cut', show({ isClosed, finished }))
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
  // Of a read that the front gives to node, which is parsed in one turn.
  if (plan.patched !== null && koa.reader === "once('end')" && kone?.silence) return
  if (kone !== undefined && OF_KONE.includes(koa.reader) && !kone.silence) return
  if (isTogether(plan) && (kone?.error || isAll(plan, kone))) return
  find('a reader ends otherwise than on Koa', `${koa.reader}: ${show(kone)} in place of ${koas.map(show).join(' or ')}`)
}

/** finished() tells how many bytes it got. */
const isAll = (plan, { bytes } = {}) => bytes === bodyOf(plan) || bytes === `${bodyOf(plan).length} bytes`

function mismatch ({ status, headers, body }, { status: code, body: bytes, isWhole }) {
  if (!isWhole) return `a whole response, of ${body.length} bytes, in place of a part of one`
  if (code !== undefined && status !== code) return `status ${status} in place of ${code}`
  if (body !== bytes.toString('latin1')) return `${show(body)} in place of ${show(bytes.toString('latin1'))}`
  return ''
}

function show (value) {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 400 ? `${text.slice(0, 300)}… ${text.length}` : text
}

// ---- cases

const PATCHES = GROUPS.touch.patch.samples

/**
 * Not what waits for others, leaves a response without an end, states another length than that of the body, or sends what
 * Responses does not read; nor an uncork() without a cork(), after which node 26 itself waits for ever.
 */
const TOUCHES = [
  ...samples(['respond', 'response', 'look', 'touch'], ['noRespond', 'length', 'trailers', 'writeAll', 'hints', 'processing', 'state', 'uncork']),
  ...samples(['read'], ['read', 'readBody', 'readStream']),
  ['destroyRes'], ['destroyReq'], ['socket.destroy']
]

/** What only a stream that is being sent has. */
const OF_STREAM = ['repipe', 'unpipe and end']

/** What only a handler does. */
const OF_HANDLER = [['throw']]

const LONG = 'x'.repeat(200_000)
const CHUNKS = ['one', 'two', 'three']

/** Name → [method, acts]. */
const RESPONSES = {
  text: ['GET', ['body', 'text']],
  bytes: ['GET', ['body', ['buffer', 'bytes']]],
  json: ['GET', ['body', ['json', 'json']]],
  'a stream': ['GET', ['body', ['paced', ...CHUNKS]]],
  'a stream with Content-Length': ['GET', ['body', ['paced', ...CHUNKS]], ['length', 11]],
  'a stream that comes at once': ['GET', ['body', ['stream', ...CHUNKS]]],
  'a stream that comes at once, with Content-Length': ['GET', ['body', ['stream', ...CHUNKS]], ['length', 11]],
  'a stream that is too short': ['GET', ['body', ['paced', ...CHUNKS]], ['length', 15]],
  'a stream that is too long': ['GET', ['body', ['paced', ...CHUNKS]], ['length', 9]],
  'a stream that fails': ['GET', ['body', ['paced, broken', ...CHUNKS]], ['length', 15]],
  'a web stream': ['GET', ['body', ['web', ...CHUNKS]]],
  'a web stream with Content-Length': ['GET', ['body', ['web', ...CHUNKS]], ['length', 11]],
  'a file': ['GET', ['body', ['file', LONG]], ['length', LONG.length]],
  'HEAD of text': ['HEAD', ['body', 'text']],
  'HEAD of a stream': ['HEAD', ['body', ['paced', ...CHUNKS]], ['length', 11]],
  204: ['GET', ['status', 204]],
  'no body': ['GET']
}

const none = () => Object.fromEntries([['ops', []], ...MOMENTS.map(name => [name, []])])

/** Is a stream sent between whose chunks acts can come? */
function momentsOf ([method, set]) {
  const kind = method !== 'HEAD' && set?.[0] === 'body' && Array.isArray(set[1]) ? set[1][0] : ''
  if (!STREAMS.includes(kind)) return ['finished', 'later']
  if (kind === 'file') return ['between', 'end', 'finished', 'later']
  return kind === 'web' ? ['between', 'behind', 'finished', 'later'] : MOMENTS
}

const needsStream = ([name]) => OF_STREAM.includes(name)

/** Of kone a web stream itself is the body, of Koa node's one that reads it. */
const hasStream = (moment, [, set]) => moment === 'between' && set[1][0] !== 'web'

/** Each touch at each moment of each response, with each kind of request in turn. */
function * table () {
  let number = 0
  for (const [title, response] of Object.entries(RESPONSES)) {
    const [, ...acts] = response
    const own = momentsOf(response)
    for (const one of [...TOUCHES, ...OF_HANDLER]) {
      const patched = one[0] === 'remove patches' ? ['res', 'end'] : null
      const plan = more => {
        const request = REQUESTS[number++ % REQUESTS.length]
        return [`${title}, ${one.join(' ')}`, { request, method: methodOf(response, request), patched, ...none(), ...more }]
      }
      if (!needsStream(one)) {
        yield plan({ ops: [one, ['turn'], ...acts] })
        yield plan({ ops: [['turn'], ...acts, one] })
      }
      for (const moment of OF_HANDLER.includes(one) ? [] : own) {
        if (!needsStream(one) || hasStream(moment, response)) yield plan({ ops: acts, [moment]: [one] })
      }
    }
  }
}

const methodOf = ([method], request) => method === 'GET' && request !== 'none' ? 'POST' : method

/** A random case: several touches, any request, readers. */
function generate (seed) {
  const rnd = random(seed)
  const response = RESPONSES[rnd.pick(Object.keys(RESPONSES))]
  const [, ...acts] = response
  const request = rnd.pick(REQUESTS)
  const plan = { request, method: methodOf(response, request), patched: null, ...none() }
  if (rnd.chance(0.2)) plan.patched = rnd.pick(PATCHES)
  const wait = () => rnd.chance(0.4) ? [] : [[rnd.pick(['tick', 'turn'])]]
  const early = () => {
    const one = rnd.pick([...TOUCHES, ...OF_HANDLER])
    return needsStream(one) || rnd.chance(0.6) ? [] : [one]
  }
  if (rnd.chance(0.4)) plan.ops.push(['read', rnd.pick(Object.keys(READERS))])
  plan.ops.push(...wait(), ...early(), ...wait(), ...acts, ...wait(), ...early())
  const own = momentsOf(response)
  for (let touches = 1 + rnd.int(3); touches > 0; touches--) {
    const moment = rnd.pick(own)
    const one = rnd.pick(TOUCHES)
    if (!needsStream(one) || hasStream(moment, response)) plan[moment].push(one)
  }
  plan.replaced = rnd.chance(0.2)
  return plan
}

/** What the shrinker may change. */
const RULES = { lists: ['ops', ...MOMENTS], usual: { request: 'none', patched: null, replaced: false } }

/** A case for each of two touches that never came together, at moments and for responses in turn. */
function * casesOf (pairs) {
  const responses = Object.entries(RESPONSES)
  for (const [number, names] of pairs.left().entries()) {
    const all = names.map(name => TOUCHES.find(one => one[0] === name))
    const [title, response] = all.some(needsStream) ? ['a stream', RESPONSES['a stream']] : responses[number % responses.length]
    const own = momentsOf(response)
    const plan = { request: REQUESTS[number % REQUESTS.length], patched: null, ...none() }
    Object.assign(plan, { method: methodOf(response, plan.request), ops: response.slice(1) })
    all.forEach((one, i) => plan[needsStream(one) ? 'between' : own[(number + i) % own.length]].push(one))
    yield [`${title}, ${names.join(' and ')}`, plan]
  }
}

const lateTouch = {
  generate,
  lanes: Array(CLOSING).fill(judge),
  /** A machine that stands still for seconds makes all wait. */
  confirm: judge,
  RULES,
  names: TOUCHES.map(([name]) => name),
  namesOf: plan => ['ops', ...MOMENTS].flatMap(moment => plan[moment].map(([name]) => name)),
  casesOf
}

module.exports = { REQUESTS, lateTouch, none }

if (require.main === module) {
  const number = { type: 'string', value: 'number' }
  main(__filename, ({ table: isWanted, step = 1, from = 0, cases, seconds }) => ({
    ...lateTouch,
    plans: isWanted ? [...table()].filter((plan, i) => i % step === from) : [],
    options: { cases: isWanted && seconds === undefined ? 0 : cases }
  }), { table: { type: 'boolean' }, step: number, from: number })
}
