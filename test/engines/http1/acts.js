'use strict'

/*
 * The acts of test apps: what one does with a request, as data, so that generators make them, a shrinker cuts them and
 * people read them:
 *
 *    ['body', ['stream', 'one', 'two']]   ['length', 6]   ['write', ['buffer', 'x']]   ['read', 'raw-body']   ['turn']
 *
 * An act has
 *
 *   does      (it, ...args): what it does
 *   arrives   (response, ...args): what it changes of { status, body } that must arrive; without it: nothing
 *   cuts      once the response has begun, it may end it early, or add to it. Every other act leaves it unchanged then.
 *
 * `it` is one request: `ctx` (null below Koa's objects), `outgoing`, `req` and `res` (the first read makes node's objects),
 * `others`, the requests of its connection, `at(moment)`, which streams call between their chunks, `undone(fn)` for what must
 * not outlive the test, `note(text)`, and `outcomes`, how each read of the body ended. `isKoa`: what only kone has is done by
 * the package that Koa's apps use.
 */

const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { PassThrough, Readable, finished, pipeline } = require('node:stream')
const { promisify } = require('node:util')
const { setImmediate: turn } = require('node:timers/promises')

const coBody = require('co-body')
const koaBodyParser = require('koa-bodyparser')
const rawBody = require('raw-body')
const bodyParser = require('../../../middleware/bodyParser')
const upload = require('../../../middleware/upload')
const { readStream, stateOf } = require('./app')
const { patch } = require('./patched')

// ---- bodies of responses, as data: [kind, ...parts]

/** In which pieces a stream reads, and when. */
class Parts extends Readable {
  constructor (parts, { it, isPaced = false, fails = false }) {
    super()
    Object.assign(this, { parts, it, isPaced, fails, next: 0 })
  }

  async _read () {
    const { parts, next } = this
    const isLast = next === parts.length
    if (next > 0) {
      if (this.isPaced) await turn() // the chunk before is on its way
      const acts = this.it?.at?.(isLast ? 'behind' : 'between')
      if (acts) await acts
    }
    this.next++
    if (!isLast) this.push(Buffer.from(parts[next]))
    else if (this.fails) this.destroy(Object.assign(new Error('broken'), { code: 'EBROKEN' }))
    else this.push(null)
  }
}

/** The same as a web stream. */
function webStream (parts, it) {
  let next = 0
  return new ReadableStream({
    async pull (controller) {
      await turn()
      const isLast = next === parts.length
      if (next > 0) await it.at(isLast ? 'behind' : 'between')
      if (isLast) controller.close()
      else controller.enqueue(Buffer.from(parts[next++]))
    }
  })
}

const BODIES = {
  text: parts => parts.join(''),
  json: parts => ({ json: parts.join('') }),
  buffer: parts => Buffer.from(parts.join('')),
  bytes: ([hex]) => Buffer.from(hex, 'hex'),
  view: ([text]) => new Uint8Array(Buffer.from(`..${text}..`, 'latin1')).subarray(2, -2),
  /** As fast as it is read. */
  stream: (parts, it) => new Parts(parts, { it }),
  broken: (parts, it) => new Parts(parts, { it, fails: true }),
  /** A turn of the event loop between two chunks. */
  paced: (parts, it) => new Parts(parts, { it, isPaced: true }),
  'paced, broken': (parts, it) => new Parts(parts, { it, isPaced: true, fails: true }),
  web: (parts, it) => it.isKoa ? Readable.fromWeb(webStream(parts, it)) : webStream(parts, it),
  file: (parts, it) => watchRead(fs.createReadStream(fileOf(parts.join(''))), it)
}

/** A listener for 'data' would change how a file is sent. */
function watchRead (stream, it) {
  const look = () => {
    if (stream.bytesRead > 0) it.at('between')
    else if (!stream.destroyed) setImmediate(look)
  }
  look()
  return stream
}

/** @param {*} value an array is [kind, ...parts], anything else is a body itself */
function make (value, it) {
  if (!Array.isArray(value)) return value
  const [kind, ...parts] = value
  return BODIES[kind](parts, it)
}

/** The bytes of what `make` gives; those in front of its failure of one that fails. */
function bytesOf (value) {
  if (value === null || value === undefined) return Buffer.alloc(0)
  if (!Array.isArray(value)) return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const [kind, ...parts] = value
  if (kind === 'bytes') return Buffer.from(parts[0], 'hex')
  if (kind === 'view') return Buffer.from(parts[0], 'latin1')
  return Buffer.from(kind === 'json' ? JSON.stringify({ json: parts.join('') }) : parts.join(''))
}

const EMPTY = [204, 304]
const STREAMS = ['stream', 'broken', 'paced', 'paced, broken', 'web', 'file']

let folder = null
const files = new Map()

function fileOf (content) {
  if (folder === null) {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-acts-'))
    process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  }
  if (!files.has(content)) {
    files.set(content, path.join(folder, String(files.size)))
    fs.writeFileSync(files.get(content), content)
  }
  return files.get(content)
}

// ---- readers of the body of a request

const next = async () => {}

const parsed = middleware => async ({ ctx }) => {
  await middleware(ctx, next)
  return Buffer.from(JSON.stringify(ctx.request.body ?? null))
}

/** Name → (it) => all bytes; each is what apps and packages read a request with. */
const READERS = {
  'readBody()': it => it.isKoa ? rawBody(it.req) : it.ctx.request.readBody(),
  bodyParser: parsed(bodyParser()),
  upload: parsed(upload({ storage: upload.memoryStorage() })),
  'koa-bodyparser': parsed(koaBodyParser()),
  'co-body': async it => Buffer.from(await coBody.text(it.req)),
  'raw-body': it => rawBody(it.req),
  "on('data')": ({ req }) => new Promise((resolve, reject) => {
    const chunks = []
    req.on('data', chunk => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks))).on('error', reject)
  }),
  'read()': ({ req }) => new Promise((resolve, reject) => {
    const chunks = []
    req.on('readable', () => {
      for (let chunk; (chunk = req.read()) !== null;) chunks.push(chunk)
    })
    req.on('end', () => resolve(Buffer.concat(chunks))).on('error', reject)
  }),
  'for await': async ({ req }) => {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    return Buffer.concat(chunks)
  },
  'pipeline()': async ({ req }) => {
    const through = new PassThrough()
    const bytes = through.toArray()
    bytes.catch(() => {})
    await promisify(pipeline)(req, through)
    return Buffer.concat(await bytes)
  },
  'finished()': async ({ req }) => {
    let length = 0
    req.on('data', chunk => { length += chunk.length })
    await promisify(finished)(req, { writable: false })
    return Buffer.from(`${length} bytes`)
  },
  'Readable.toWeb()': async ({ req }) => Buffer.from(await new Response(Readable.toWeb(req)).arrayBuffer()),
  'a proxy': async ({ req }) => {
    const { port } = await upstream()
    return new Promise((resolve, reject) => {
      const forwarded = http.request({ host: '127.0.0.1', port, method: 'POST', agent: false }, async res => resolve(Buffer.concat(await res.toArray())))
      req.pipe(forwarded.on('error', reject))
      req.on('error', reject)
    })
  }
}

/** Of READERS, what is kone's: its errors have other words than those of Koa's packages. */
const OF_KONE = ['readBody()', 'bodyParser', 'upload']

let started = null

/** A server that sends back what it gets. It keeps no process alive. */
function upstream () {
  started ??= new Promise(resolve => {
    const server = http.createServer((req, res) => req.pipe(res))
    server.listen(0, '127.0.0.1', () => resolve(server.unref().address()))
  })
  return started
}

/** Settles always: with the bytes, or with what went wrong. */
async function outcomeOf (it, reader) {
  try {
    return { reader, bytes: (await READERS[reader](it)).toString('latin1') }
  } catch (err) {
    return { reader, error: err?.message ?? String(err) }
  }
}

// ---- acts

const begins = (response, value, status = response.status ?? 404) => {
  Object.assign(response, { status, body: bytesOf(value), hasBegun: true })
}

/** What is written behind the end is an error of the response, which ends the process without a listener. */
function resOf (it) {
  const { res } = it
  if (res.listenerCount('error') === 0) res.on('error', () => {})
  return res
}

const unknown = response => { response.isUnknown = true }

/** Of a response that node's code writes down in another way than Koa's. */
const byHand = does => ({ does, arrives: unknown })

/** Responds, in Koa's words. */
const respond = {
  body: {
    does: (it, value) => { it.ctx.body = make(value, it) },
    arrives (response, value) {
      const isEmpty = value === null || value === undefined
      const isStream = Array.isArray(value) && STREAMS.includes(value[0])
      if (isEmpty) response.status = EMPTY.includes(response.status) ? response.status : 204
      else response.status ??= 200
      if (!isStream || response.body !== undefined) response.length = undefined
      response.body = isEmpty ? undefined : bytesOf(value)
      response.isExplicit = isEmpty
      response.fails = isStream && value[0].endsWith('broken')
    }
  },
  status: { does: ({ ctx }, code) => { ctx.status = code }, arrives: (response, code) => { response.status = code } },
  length: { does: ({ ctx }, length) => { ctx.length = length }, arrives: (response, length) => { response.length = length } },
  set: { does: ({ ctx }, name, value) => ctx.set(name, value) },
  setMany: { does: ({ ctx }, fields) => ctx.set(fields) },
  append: { does: ({ ctx }, name, value) => ctx.append(name, value) },
  remove: { does: ({ ctx }, name) => ctx.remove(name) },
  message: { does: ({ ctx }, text) => { ctx.message = text } },
  type: { does: ({ ctx }, value) => { ctx.type = value } },
  vary: { does: ({ ctx }, value) => ctx.vary(value) },
  cookie: { does: ({ ctx }, name, value) => { ctx.cookies.set(name, value) } },
  redirect: byHand(({ ctx }, value) => ctx.redirect(value)),
  noRespond: byHand(({ ctx }) => { ctx.respond = false })
}

/** Responds, in node's words, and without node's objects. */
const outgoing = {
  setHeader: { does: ({ outgoing }, name, value) => { outgoing.setHeader(name, value) } },
  appendHeader: { does: ({ outgoing }, name, value) => { outgoing.appendHeader(name, value) } },
  removeHeader: { does: ({ outgoing }, name) => { outgoing.removeHeader(name) } },
  statusCode: byHand(({ outgoing }, code) => { outgoing.statusCode = code }),
  statusMessage: byHand(({ outgoing }, text) => { outgoing.statusMessage = text }),
  flush: byHand(({ outgoing }) => outgoing.flushHeaders()),
  end: { does: ({ outgoing }, value) => { outgoing.end(make(value)) }, arrives: begins }
}

/** Responds by node's own object. Behind the end node would write early hints into the next response. */
const response = {
  resSetHeader: { does: ({ res }, name, value) => { res.setHeader(name, value) } },
  resRemoveHeader: { does: ({ res }, name) => { res.removeHeader(name) } },
  resHas: byHand(({ res }, name, value) => { res[name] = value }),
  writeHead: byHand(({ res }, ...args) => { res.writeHead(...args) }),
  trailers: byHand(({ res }, fields) => res.addTrailers(fields)),
  hints: { does: ({ res }, fields) => { if (!res.writableEnded) res.writeEarlyHints(fields) } },
  processing: { does: ({ res }) => { if (!res.writableEnded) res.writeProcessing() } },
  write: { cuts: true, does: (it, value, encoding) => resOf(it).write(make(value), encoding), arrives: unknown },
  resEnd: { cuts: true, does: (it, value) => { resOf(it).end(make(value)) }, arrives: begins }
}

/** Reads the body of the request. */
const read = {
  /** Until it settles, or until nothing moves any more. */
  read: {
    does: async (it, reader) => {
      it.outcomes.push(await Promise.race([outcomeOf(it, reader), it.quiet({ reader, silence: true })]))
    }
  },
  'begin to read': { does: (it, reader) => { outcomeOf(it, reader) } },
  readBody: {
    async does ({ ctx }, limit) {
      const body = await ctx.request.readBody({ limit })
      return `${body.length} ${body.toString('latin1').slice(0, 200)}`
    }
  },
  /** Each event is noted. */
  readStream: { does: ({ req, note }) => readStream(req, note) },
  resume: { does: ({ req }) => { req.resume() } }
}

/** Looks: what an act returns is noted. */
const look = {
  see: { does: ({ ctx }) => [ctx.status, ctx.message, ctx.length, ctx.type, ctx.headerSent, ctx.response.header] },
  field: { does: ({ ctx }, name) => [ctx.get(name), ctx.headers[name.toLowerCase()]] },
  about: {
    does: ({ ctx }) => [ctx.method, ctx.url, ctx.path, ctx.querystring, ctx.host, ctx.protocol, ctx.length, ctx.request.length,
      ctx.is('json'), ctx.accepts('html', 'json'), ctx.fresh, ctx.href]
  },
  has: { does: ({ ctx }, name) => ctx.response.has(name) },
  get: { does: ({ ctx }, name) => ctx.response.get(name) },
  getHeader: { does: ({ outgoing }, name) => outgoing.getHeader(name) },
  hasHeader: { does: ({ outgoing }, name) => outgoing.hasHeader(name) },
  headers: { does: ({ outgoing }) => [outgoing.getHeaderNames(), outgoing.getHeaders()] },
  req: { does: ({ req }) => [req.method, req.url, req.rawHeaders, req.httpVersion] },
  res: { does: ({ res }) => res.statusCode },
  /** A turn later: within one read it depends on how much of that read is parsed. */
  state: {
    async does ({ req, res }) {
      await turn()
      return stateOf(req, res)
    }
  }
}

/** Patch a method; each call is noted with its object. */
function watched (it, which, name) {
  return patch(which, name, function () { it.called(name, this) })
}

/** Touches node's objects, or what belongs to all requests. */
const touch = {
  'res.setTimeout': { does: it => { it.res.setTimeout(60_000, () => {}) } },
  'req.setTimeout': { does: it => { it.req.setTimeout(60_000, () => {}) } },
  'res.flushHeaders': { does: it => { it.res.flushHeaders() } },
  'res.cork': {
    does: it => {
      it.res.cork()
      process.nextTick(() => it.res.uncork())
    }
  },
  onFinished: { does: it => it.onFinished(() => {}) },
  /** Of `req` or `res`; see patched.js. It lasts until the end of the test. */
  patch: { does: (it, which, name) => it.undone(watched(it, which, name)) },
  'remove patches': { does: it => it.undo() },
  /** The stream that is sent leaves its destination, and returns. */
  repipe: {
    does ({ ctx: { body }, res }) {
      body.unpipe()
      body.pipe(res)
    }
  },
  'unpipe and end': {
    cuts: true,
    does (it) {
      it.ctx.body.unpipe()
      resOf(it).end()
    }
  }
}

/** Goes wrong. */
const fail = {
  throw: {
    does (it, status, message = 'thrown', expose, headers) { throw Object.assign(new Error(message), { status, expose, headers }) },
    arrives (response, status) {
      Object.assign(response, { length: undefined, fails: false, isUnknown: status !== undefined })
      begins(response, 'Internal Server Error', 500)
    }
  },
  destroyRes: { cuts: true, does: it => { resOf(it).destroy() }, arrives: response => { response.isLost = true } },
  /** Without an effect when its body was read. */
  destroyReq: { cuts: true, does: ({ req }) => { req.destroy() }, arrives: unknown },
  'socket.destroy': { cuts: true, does: ({ ctx }) => { ctx.socket.destroy() }, arrives: response => { response.isLost = true } },
  throwWhenFinished: { does: it => it.onFinished(() => { throw new Error('thrown by the fuzzer') }) },
  throwIn: { does: ({ res }, event) => { res.once(event, () => { throw new Error('thrown by the fuzzer') }) } }
}

/** Waits, or lets others go on: `it.others` is an Exchange of harness.js. */
const wait = {
  tick: { does: () => Promise.resolve() },
  turn: { does: () => turn() },
  hold: { does: ({ others }) => others.held() },
  release: { does: ({ others }) => { others.release() } },
  /** Ends the response of a request that has done `leave`. */
  endAnother: { does: ({ others }) => { others.endAnother('by another') } },
  leave: byHand(({ ctx, others }) => {
    ctx.respond = false
    others.leave(ctx)
  })
}

const GROUPS = { respond, outgoing, response, read, look, touch, fail, wait }
const ACTS = Object.assign({}, ...Object.values(GROUPS))

/** Do one act. @return {*} what it returns; a promise for what must be awaited */
function act (it, [name, ...args]) {
  return ACTS[name].does(it, ...args)
}

/** May this act end or change a response that has begun? */
const cuts = ([name]) => ACTS[name].cuts === true

/**
 * What must arrive of a response whose app does these acts before it begins.
 *
 *    expected([['status', 201], ['body', ['stream', 'a', 'b']]], 'GET') // { status: 201, body: <Buffer 'ab'>, isWhole: true }
 *
 * Null if it is not known. `isWhole`: false if it is cut, and its connection closes.
 */
function expected (acts, method) {
  const response = { hasBegun: false }
  for (const [name, ...args] of acts) {
    if (response.hasBegun || response.isLost) break
    ACTS[name].arrives?.(response, ...args)
    if (response.isUnknown) return null
  }
  const { status = 404, body = response.isExplicit ? Buffer.alloc(0) : Buffer.from(http.STATUS_CODES[status]) } = response
  if (method === 'HEAD' || EMPTY.includes(status)) return { status, body: Buffer.alloc(0), isWhole: !response.isLost }
  const isShort = response.length !== undefined && body.length < response.length
  return {
    status,
    body: body.subarray(0, response.length ?? body.length),
    isWhole: !(response.isLost || response.fails || isShort)
  }
}

/** Does it change what must arrive before the response begins? */
const responds = ([name]) => ACTS[name].arrives !== undefined

module.exports = { GROUPS, OF_KONE, READERS, STREAMS, act, cuts, expected, responds, watched }
