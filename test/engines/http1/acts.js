'use strict'

/*
 * The acts of test apps: what one does with a request, as data, so that generators make them, a shrinker cuts them and
 * people read them:
 *
 *    ['body', ['stream', 'one', 'two']]   ['length', 6]   ['write', ['buffer', 'x']]   ['read', 'raw-body']   ['turn']
 *
 * An act has
 *
 *   samples   lists of arguments, with which every generator takes it
 *   draw      (rnd) => arguments, for the generator that has odd ones, too; without it: one of the samples
 *   does      (it, ...args): what it does
 *   arrives   (response, ...args): what it changes of { status, body } that must arrive; without it: nothing
 *   fields    (...args) => the names and values that it sets, of a header section that has not begun
 *   cuts      once the response has begun, it may end it early, or add to it. Every other act leaves it unchanged then.
 *
 * `it` is one request: `ctx` (null below Koa's objects), `outgoing`, `req` and `res` (the first read makes node's objects),
 * `others`, the requests of its connection, `at(moment)`, which streams call between their chunks, `undone(fn)` for what must
 * not outlive the test, `note(text)`, and `outcomes`, how each read of the body ended. `isKoa`: what only kone has is done by
 * the package that Koa's apps use.
 */

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { PassThrough, Readable, finished, pipeline } = require('node:stream')
const { promisify } = require('node:util')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')

const coBody = require('co-body')
const koaBodyParser = require('koa-bodyparser')
const rawBody = require('raw-body')
const bodyParser = require('../../../middleware/bodyParser')
const upload = require('../../../middleware/upload')
const { patch } = require('./patched')

// ---- bodies of responses, as data: [kind, ...parts]

/** In which pieces a stream reads, and when. */
class Parts extends Readable {
  constructor (parts, { it, pace = null, fails = false }) {
    super()
    Object.assign(this, { parts, it, pace, fails, next: 0 })
  }

  async _read () {
    const { parts, next } = this
    const isLast = next === parts.length
    if (next > 0) {
      await this.pace?.() // the chunk before is on its way
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
      if (next > 0) await it.at?.(isLast ? 'behind' : 'between')
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
  blob: parts => new Blob(parts),
  view: ([text]) => new Uint8Array(Buffer.from(`..${text}..`, 'latin1')).subarray(2, -2),
  /** As fast as it is read. */
  stream: (parts, it) => new Parts(parts, { it }),
  broken: (parts, it) => new Parts(parts, { it, fails: true }),
  /** A turn of the event loop between two chunks. */
  paced: (parts, it) => new Parts(parts, { it, pace: turn }),
  'paced, broken': (parts, it) => new Parts(parts, { it, pace: turn, fails: true }),
  dripping: (parts, it) => new Parts(parts, { it, pace: () => sleep(30) }),
  web: (parts, it) => it.isKoa ? Readable.fromWeb(webStream(parts, it)) : webStream(parts, it),
  file (parts, it) {
    const stream = fs.createReadStream(fileOf(parts.join('')))
    return it.at === undefined ? stream : watchRead(stream, it)
  }
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
function bytesOf (value, encoding) {
  if (value === null || value === undefined) return Buffer.alloc(0)
  if (ArrayBuffer.isView(value)) return Buffer.from(value)
  if (!Array.isArray(value)) return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value), encoding)
  const [kind, ...parts] = value
  if (kind === 'bytes') return Buffer.from(parts[0], 'hex')
  if (kind === 'view') return Buffer.from(parts[0], 'latin1')
  return Buffer.from(kind === 'json' ? JSON.stringify({ json: parts.join('') }) : parts.join(''))
}

const EMPTY = [204, 304]
const STREAMS = ['stream', 'broken', 'paced', 'paced, broken', 'dripping', 'web', 'file']

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
  /** Listens for the end once the bytes are there: all of them, of a body that comes at once. */
  "once('end')": async ({ req }) => {
    const [bytes] = await once(req, 'data')
    await once(req, 'end')
    return bytes
  },
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

// ---- arguments of an odd kind, and usual ones

const either = (list, strange, share) => rnd => rnd.chance(share) ? rnd.pick(strange) : rnd.pick(list)

const REQUEST_NAMES = ['Accept', 'Accept-Encoding', 'Accept-Language', 'Authorization', 'Cache-Control', 'Cookie', 'Content-Type', 'Date',
  'ETag', 'Expires', 'From', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'Keep-Alive', 'Location', 'Max-Forwards', 'Origin',
  'Pragma', 'Range', 'Referer', 'Server', 'Set-Cookie', 'TE', 'Trailer', 'User-Agent', 'Vary', 'Via', 'Warning', 'X-A', 'x-a', 'X-B',
  'X-Forwarded-For', '__proto__', 'constructor', 'toString', '1', '!#$%&\'*+-.^_`|~', 'Hos', 'Hosts', 'Content-Lengt', 'Connectio',
  'Age', 'Retry-After', 'Last-Modified', 'Proxy-Authorization', 'If-Unmodified-Since']

const odd = {
  STATUSES: [200, 200, 201, 202, 203, 204, 205, 206, 301, 304, 400, 404, 413, 418, 500, 503],
  BODIES: ['text', 'five5', '', 'ü€', '<p>', ['buffer', 'abcd'], ['buffer'], ['stream', 'ab', 'cd'], ['stream'], ['broken', 'ab'], ['broken'],
    null, undefined, { json: 1 }, 5, true, 'x'.repeat(2000), ['buffer', 'y'.repeat(20000)], 'z'.repeat(20000),
    '子', 'é', '\u{1f600}', 'a\ud800', { json: '\udc00ü' }, ['bytes', 'e5ad90'], ['bytes', 'ff'.repeat(45)], ['bytes', '00ff80c3'],
    ['bytes', 'ff'.repeat(17000)], ['view', 'é\xff'], '子'.repeat(6000), 'é'.repeat(17000), ['stream', '子', 'é']],
  ENCODINGS: ['utf8', 'latin1', 'ucs2', 'base64', 'ascii', 'binary'] // of odd 'hex' in a writev node dies
}
odd.name = rnd => [nameOf(rnd)]
odd.field = rnd => [nameOf(rnd), valueOf(rnd)]
odd.status = rnd => [statusOf(rnd)]
odd.message = rnd => [rnd.pick(['Fine', '', 'Two Words', 'ü', 'a\r\nb', 'a\tb', '€', 'a\0', undefined, null, 5])]
odd.chunk = rnd => [chunkOf(rnd)]

const nameOf = either(
  ['X-A', 'x-a', 'X-B', 'Content-Type', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Date',
    'Set-Cookie', 'Vary', 'Trailer', 'ETag', 'Upgrade', 'Content-Encoding', 'Allow', 'Expect', 'Location', 'Link', 'connection', 'date',
    'content-length', 'Content-Disposition', 'constructor', 'Cookie', 'Proxy-Connection', 'Server', 'Cache-Control'],
  ['', 'bad name', 'x\r\ny', '\xfc', 'x:', '__proto__', undefined, null, 5, 'x\0'], 0.06)
const valueOf = either(
  ['v', '', 'a b', 'ü', 'a\tb', 0, 42, ['a', 'b'], ['one'], [], 'close', 'keep-alive', 'chunked', 'identity', 'gzip, chunked',
    '4', '5', '0', 'Keep-Alive', 'upgrade', 'close, x', 'text/plain', 'timeout=1', 'x'.repeat(200), 'W/"1"', true, 4.5, ['4', '5'], [1, 2]],
  ['a\r\nb', 'a\nb', 'a\rb', 'a\0b', '€', '\x7f', '\x01', null, undefined, {}, ['a', 'b\r\n'], [undefined], '-1', 'x', NaN, [[]]], 0.08)
const statusOf = either(odd.STATUSES,
  [100, 101, 102, 103, 199, 299, 599, 600, 999, 1000, 99, 0, -1, '200', '204', 200.5, NaN, null, undefined, 'x', '404x'], 0.2)
const chunkOf = either(
  ['text', '', 'four', 'ü', ['buffer', 'abcd'], ['buffer'], undefined, 'x'.repeat(1000), '子', '\u{1f600}', 'a\ud800',
    ['bytes', 'e5ad90'], ['bytes', 'ff'.repeat(45)], ['view', 'é\xff'], ['bytes', '0d0a']],
  [null, 5, {}, true], 0.08)

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

const FIELD = { samples: [['X-A', '1']], draw: odd.field, fields: (name, value) => [[name, value]] }
const NAME = { samples: [['X-A']], draw: odd.name }

/** Of one argument; the first one is the sample. */
const oneOf = (...values) => ({ samples: [[values[0]]], draw: rnd => [rnd.pick(values)] })

const unknown = response => { response.isUnknown = true }

/** Of a response that node's code writes down in another way than Koa's. */
const byHand = does => ({ does, arrives: unknown })

function setField ({ ctx }, how, name, value) {
  if (how === 'set') ctx.set(name, value)
  else if (how === 'many') ctx.set({ 'X-Copied': '1', [name]: value })
  else ctx.res.setHeader(name, value)
}

/** Responds, in Koa's words. */
const respond = {
  body: {
    samples: [['text'], [null], [['buffer', 'other']], [['paced', 'oth', 'er']]],
    draw: rnd => [rnd.pick(odd.BODIES)],
    does: (it, value) => { it.ctx.body = make(value, it) },
    arrives (response, value) {
      const isEmpty = value === null || value === undefined
      const isStream = Array.isArray(value) && STREAMS.includes(value[0])
      if (isEmpty) response.status = EMPTY.includes(response.status) ? response.status : 204
      else if (response.status === undefined) Object.assign(response, { status: 200, message: undefined })
      if (!isStream || response.body !== undefined) response.length = undefined
      if (isEmpty) response.coding = undefined
      response.body = isEmpty ? undefined : bytesOf(value)
      response.isStream = isStream
      response.isExplicit ||= value === null
      response.fails = isStream && value[0].endsWith('broken')
    }
  },
  status: {
    samples: [[201]],
    draw: odd.status,
    does: ({ ctx }, code) => { ctx.status = code },
    arrives (response, code) {
      Object.assign(response, { status: code, message: undefined })
      if (!EMPTY.includes(code) || response.body === undefined) return
      Object.assign(response, { body: undefined, isStream: false, length: undefined, coding: undefined, isExplicit: true })
    }
  },
  length: {
    ...oneOf(5, 0, 4, '4', 100, NaN, -1),
    does: ({ ctx }, length) => { ctx.length = length },
    arrives: (response, length) => { if (response.coding === undefined) response.length = length }
  },
  /** As fields of another response that an app copies, in one of three ways. */
  declare: {
    samples: [['set', '3'], ['res', ['3', '4']]],
    draw: rnd => [rnd.pick(['set', 'many', 'res']), rnd.pick(['3', '0', '4', '04', '100', ['3', '4'], ['4'], 'x', '-1', '4.5', '', '9'.repeat(20)])],
    does: (it, how, length) => setField(it, how, 'Content-Length', length),
    arrives: (response, how, length) => { response.length = length }
  },
  coding: {
    samples: [['set', 'chunked']],
    draw: rnd => [rnd.pick(['set', 'many', 'res']), rnd.pick(['chunked', 'gzip, chunked', 'identity', ['chunked', 'chunked']])],
    does: (it, how, coding) => setField(it, how, 'Transfer-Encoding', coding),
    arrives: (response, how, coding) => { response.coding = coding }
  },
  range: {
    ...oneOf('bytes 0-3/8', 'bytes 2-2/8', 'bytes 0-99/100', 'bytes */8'),
    does ({ ctx }, range) {
      ctx.status = 206
      ctx.set('Content-Range', range)
    },
    arrives: response => Object.assign(response, { status: 206, message: undefined })
  },
  set: { ...FIELD, does: ({ ctx }, name, value) => ctx.set(name, value) },
  setMany: {
    samples: [[{ 'X-A': '1', 'X-B': '2' }]],
    draw: rnd => [Object.fromEntries([odd.field(rnd), odd.field(rnd)].map(([name, value]) => [String(name), value]))],
    does: ({ ctx }, fields) => ctx.set(fields)
  },
  append: { ...FIELD, does: ({ ctx }, name, value) => ctx.append(name, value) },
  remove: { ...NAME, does: ({ ctx }, name) => ctx.remove(name) },
  message: {
    samples: [['Fine']],
    draw: odd.message,
    does: ({ ctx }, text) => { ctx.message = text },
    arrives: (response, text) => { response.message = text }
  },
  type: {
    ...oneOf('html', 'text/plain', 'json', '', 'x/y; charset=z', 'nonsense'),
    does: ({ ctx }, value) => { ctx.type = value }
  },
  vary: { ...oneOf('Accept', '*', 'a, b', ''), does: ({ ctx }, value) => ctx.vary(value) },
  cookie: {
    samples: [['a', '1']],
    draw: rnd => [rnd.pick(['a', 'b', 'bad name']), rnd.pick(['1', '', 'ü', 'a;b'])],
    does: ({ ctx }, name, value) => { ctx.cookies.set(name, value) }
  },
  redirect: { ...oneOf('/elsewhere', 'http://b/ü', 'back', '/a\r\nb'), ...byHand(({ ctx }, value) => ctx.redirect(value)) },
  noRespond: byHand(({ ctx }) => { ctx.respond = false })
}

/** Responds, in node's words, and without node's objects, but for appendHeader(), which ctx.outgoing does not have. */
const outgoing = {
  setHeader: { ...FIELD, does: ({ outgoing }, name, value) => { outgoing.setHeader(name, value) } },
  appendHeader: { ...FIELD, does: ({ res }, name, value) => { res.appendHeader(name, value) } },
  removeHeader: { ...NAME, does: ({ outgoing }, name) => { outgoing.removeHeader(name) } },
  statusCode: { samples: [[202]], draw: odd.status, ...byHand(({ outgoing }, code) => { outgoing.statusCode = code }) },
  statusMessage: { samples: [['Fine']], draw: odd.message, ...byHand(({ outgoing }, text) => { outgoing.statusMessage = text }) },
  flush: byHand(({ outgoing }) => outgoing.flushHeaders()),
  end: { samples: [['ended']], draw: odd.chunk, does: ({ outgoing }, value) => { outgoing.end(make(value)) }, arrives: begins }
}

/** Responds by node's own object. Behind the end node would write early hints into the next response. */
const response = {
  resSetHeader: { ...FIELD, does: ({ res }, name, value) => { res.setHeader(name, value) } },
  /** All of a Map, as adapters of web responses do it. */
  resSetHeaders: {
    samples: [[[['X-A', '1'], ['X-B', '2']]]],
    draw: rnd => [[odd.field(rnd), odd.field(rnd)]],
    fields: entries => entries,
    does: ({ res }, entries) => { res.setHeaders(new Map(entries)) }
  },
  resRemoveHeader: { ...NAME, does: ({ res }, name) => { res.removeHeader(name) } },
  resHas: {
    samples: [['sendDate', true]],
    draw: rnd => [rnd.pick(['sendDate', 'shouldKeepAlive', 'useChunkedEncodingByDefault', 'strictContentLength', 'chunkedEncoding']), rnd.chance(0.5)],
    ...byHand(({ res }, name, value) => { res[name] = value })
  },
  writeHead: {
    samples: [[201]],
    draw: rnd => [...odd.status(rnd), ...rnd.chance(0.3) ? odd.message(rnd) : [],
      ...rnd.chance(0.6) ? [rnd.chance(0.7) ? Object.fromEntries([odd.field(rnd)]) : [String(odd.name(rnd)), 'v']] : []],
    ...byHand(({ res }, ...args) => { res.writeHead(...args) })
  },
  trailers: { ...oneOf({ 'X-T': 't' }, { 'X-T': 'a\nb' }, {}), ...byHand(({ res }, fields) => res.addTrailers(fields)) },
  hints: {
    ...oneOf({ link: '</a>; rel=preload' }, { link: 'nonsense' }),
    does: ({ res }, fields) => { if (!res.writableEnded) res.writeEarlyHints(fields) }
  },
  resFlush: byHand(({ res }) => res.flushHeaders()),
  cork: byHand(({ res }) => res.cork()),
  uncork: byHand(({ res }) => res.uncork()),
  processing: { does: ({ res }) => { if (!res.writableEnded) res.writeProcessing() } },
  write: {
    samples: [['written']],
    draw: rnd => [...odd.chunk(rnd), ...rnd.chance(0.2) ? [rnd.pick(odd.ENCODINGS)] : []],
    cuts: true,
    does: (it, value, encoding, ...more) => resOf(it).write(make(value), encoding, ...more),
    arrives: unknown
  },
  /** At the pace of the client. */
  writeAll: {
    samples: [['one', 'two']],
    cuts: true,
    async does (it, ...values) {
      const res = resOf(it)
      for (const value of values) {
        if (res.destroyed) return
        if (!res.write(make(value))) await drained(res, it.ctx.socket)
      }
    },
    arrives: unknown
  },
  resEnd: {
    samples: [[], ['ended']],
    draw: odd.chunk,
    cuts: true,
    does: (it, value, ...more) => { resOf(it).end(make(value), ...more) },
    arrives: begins
  }
}

function drained (res, socket) {
  return new Promise(resolve => {
    const done = () => {
      res.off('drain', done).off('close', done)
      socket.off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
    socket.on('close', done)
  })
}

/** Below Koa's objects, and without node's: what a stream is piped into. */
const below = {
  sink: { samples: [['written']], cuts: true, does: (it, value) => sinkOf(it).write(make(value)), arrives: unknown },
  endSink: { cuts: true, does: it => { sinkOf(it).end() }, arrives: unknown }
}

function sinkOf ({ outgoing }) {
  const sink = outgoing.sink(Readable.prototype)
  if (sink.listenerCount('error') === 0) sink.on('error', () => {})
  return sink
}

/** Reads the body of the request. */
const read = {
  /** Until it settles, or until nothing moves any more. */
  read: {
    samples: Object.keys(READERS).map(name => [name]),
    does: async (it, reader) => {
      it.outcomes.push(await Promise.race([outcomeOf(it, reader), it.quiet({ reader, silence: true })]))
    }
  },
  'begin to read': {
    samples: [['readBody()'], ["on('data')"], ['raw-body'], ['for await']],
    does: (it, reader) => { outcomeOf(it, reader) }
  },
  readBody: {
    ...oneOf(1000, 1000, 4, undefined),
    async does ({ ctx }, limit) {
      const body = await ctx.request.readBody({ limit })
      return `${body.length} ${body.toString('latin1').slice(0, 200)}`
    }
  },
  /** Each event is noted. */
  readStream: { does: ({ req, note }) => readStream(req, note) },
  resume: { does: ({ req }) => { req.resume() } }
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

/** Looks: what an act returns is noted. */
const look = {
  see: { does: ({ ctx }) => [ctx.status, ctx.message, ctx.length, ctx.type, ctx.headerSent, ctx.response.header] },
  field: { ...oneOf(...REQUEST_NAMES), does: ({ ctx }, name) => [ctx.get(name), ctx.headers[name.toLowerCase()]] },
  about: {
    does: ({ ctx }) => [ctx.method, ctx.url, ctx.path, ctx.querystring, ctx.host, ctx.protocol, ctx.length, ctx.request.length,
      ctx.is('json'), ctx.accepts('html', 'json'), ctx.fresh, ctx.href]
  },
  has: { ...NAME, does: ({ ctx }, name) => ctx.response.has(name) },
  get: { ...NAME, does: ({ ctx }, name) => ctx.response.get(name) },
  getHeader: { ...NAME, does: ({ outgoing }, name) => outgoing.getHeader(name) },
  hasHeader: { ...NAME, does: ({ outgoing }, name) => outgoing.hasHeader(name) },
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
  'res.cork': {
    does: it => {
      it.res.cork()
      process.nextTick(() => it.res.uncork())
    }
  },
  onFinished: { does: it => it.onFinished(() => {}) },
  /** Of `req` or `res`; see patched.js. It lasts until the end of the test. */
  patch: {
    samples: [
      ['res', 'end'], ['res', 'write'], ['res', 'writeHead'], ['res', 'emit'], ['res', '_storeHeader'], ['res', 'assignSocket'],
      ['req', 'on'], ['req', 'read']
    ],
    does: (it, which, name) => it.undone(watched(it, which, name))
  },
  'remove patches': { does: it => it.undo() },
  /** The stream that is sent leaves its destination, and returns. */
  repipe: {
    does ({ ctx: { body }, res }) {
      body.unpipe()
      body.pipe(res)
    }
  },
  /** What refuses to end (strictContentLength) is destroyed. */
  'unpipe and end': {
    cuts: true,
    does (it) {
      const res = resOf(it)
      it.ctx.body.unpipe()
      try {
        res.end()
      } catch {
        res.destroy()
      }
    }
  }
}

/** Goes wrong. */
const fail = {
  throw: {
    draw: rnd => [rnd.pick([...odd.STATUSES, undefined, 99]), rnd.pick(['oops', '']), rnd.pick([true, false, undefined]),
      rnd.pick([undefined, { 'X-Err': '1' }, { 'X-Err': 'a\nb' }, { 'Content-Length': '2' }])],
    does (it, status, message = 'thrown', expose, headers) {
      throw Object.assign(new Error(message), { code: 'ETHROWN', status, expose, headers })
    },
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
  throwIn: { samples: [['finish'], ['close']], does: ({ res }, event) => { res.once(event, () => { throw new Error('thrown by the fuzzer') }) } }
}

/** Waits, or lets others go on: `it.others` is an Exchange of harness.js. */
const wait = {
  tick: { does: () => Promise.resolve() },
  turn: { does: () => turn() },
  never: byHand(() => new Promise(() => {})),
  /** Nothing else runs for so many ms. It takes no CPU, because how much a busy loop takes depends on the machine's load. */
  block: { samples: [[1]], does: (it, ms) => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms) } },
  /** In the next tick, or the next turn, another act. */
  soon: {
    samples: [['tick', ['res']], ['turn', ['res']]],
    does: (it, when, one) => { (when === 'tick' ? process.nextTick : setImmediate)(() => act(it, one)) }
  },
  hold: { does: ({ others }) => others.held() },
  release: { does: ({ others }) => { others.release() } },
  /** Ends the response of a request that has done `leave`. */
  endAnother: { does: ({ others }) => { others.endAnother('by another') } },
  leave: byHand(({ ctx, others }, value) => {
    ctx.respond = false
    others.leave(ctx, value)
  })
}

const GROUPS = { respond, outgoing, response, below, read, look, touch, fail, wait }
const ACTS = Object.assign({}, ...Object.values(GROUPS))

/** Each act of some groups with each of its samples, but for those that are named. */
function samples (groups, without) {
  return groups.flatMap(group => Object.entries(GROUPS[group]))
    .filter(([name]) => !without.includes(name))
    .flatMap(([name, { samples = [[]] }]) => samples.map(args => [name, ...args]))
}

/** An act with arguments of a random kind. */
function draw (rnd, name) {
  const { draw, samples = [[]] } = ACTS[name]
  return [name, ...draw === undefined ? rnd.pick(samples) : draw(rnd)]
}

/** Do one act. @return {*} what it returns; a promise for what must be awaited */
function act (it, [name, ...args]) {
  return ACTS[name].does(it, ...args)
}

/** A request as acts see it. */
class It {
  constructor (ctx, more) {
    Object.assign(this, more)
    this.ctx = ctx
  }

  get req () { return this.ctx.req }
  get res () { return this.ctx.res }
  get outgoing () { return this.isKoa ? this.ctx.res : this.ctx.response.outgoing }
  onFinished (fn) { return this.ctx.onFinished(fn) }
  act (one) { return act(this, one) }

  /** Synchronous up to the first act that is not. */
  all (acts, from = 0) {
    for (let i = from; i < acts.length; i++) {
      const result = this.act(acts[i])
      if (result instanceof Promise) return result.then(() => this.all(acts, i + 1))
    }
  }
}

/** May this act end or change a response that has begun? */
const cuts = ([name]) => ACTS[name].cuts === true

/**
 * What must arrive of a response whose app does these acts before it begins.
 *
 *    expected([['status', 201], ['body', ['stream', 'a', 'b']]], 'GET') // { status: 201, body: <Buffer 'ab'>, isWhole: true }
 *
 * Null if it is not known. `isWhole`: false if it is cut, and its connection closes. `length`: of kone, what
 * Content-Length says; undefined without one.
 */
function expected (acts, method) {
  const response = { hasBegun: false }
  for (const [name, ...args] of acts) {
    if (response.hasBegun || response.isLost) break
    ACTS[name].arrives?.(response, ...args)
    if (response.isUnknown) return null
  }
  const { status = 404, message = http.STATUS_CODES[status] } = response
  const { body = response.isExplicit ? Buffer.alloc(0) : Buffer.from(message), isStream } = response
  const declared = /^\d{1,15}$/.test(response.length) ? Number(response.length) : undefined
  if (EMPTY.includes(status)) return { status, body: Buffer.alloc(0), isWhole: !response.isLost }
  if (method === 'HEAD') {
    // an empty body stands for one that the app does not make for HEAD
    const isStandIn = body.length === 0 && response.coding === undefined
    const length = isStream || response.body === undefined ? declared : isStandIn ? declared ?? 0 : body.length
    return { status, body: Buffer.alloc(0), isWhole: !response.isLost, length }
  }
  const length = isStream ? declared : body.length
  const isShort = length !== undefined && body.length < length
  const isCut = length !== undefined && body.length > length // it is complete before the stream fails
  return {
    status,
    body: body.subarray(0, length),
    isWhole: !(response.isLost || (response.fails && !isCut) || isShort),
    length
  }
}

/** Does it change what must arrive before the response begins? */
const responds = ([name]) => ACTS[name].arrives !== undefined

/** The names and values that it sets. */
const fieldsOf = ([name, ...args]) => ACTS[name].fields?.(...args) ?? []

/** Does it leave the response of any app as it is, wherever it comes? */
const isHarmless = one => !responds(one) && !cuts(one)

/** Does it need nothing but the response below Koa's objects? */
const isBelow = ([name]) => !/\b(?:ctx|req|onFinished|others|undone|undo)\b/.test(ACTS[name].does)

module.exports = {
  GROUPS,
  It,
  OF_KONE,
  READERS,
  REQUEST_NAMES,
  STREAMS,
  act,
  bytesOf,
  cuts,
  draw,
  expected,
  fieldsOf,
  isBelow,
  isHarmless,
  readStream,
  responds,
  samples,
  stateOf,
  watched
}
