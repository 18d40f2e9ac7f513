'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { PassThrough, Readable } = require('node:stream')
const { setTimeout: sleep } = require('node:timers/promises')

const Koa = require('koa')
const Koa3 = require('koa3')
const connect = require('koa-connect')
const onFinished = require('on-finished')
const Kone = require('../helpers/kone')
const { Kone3 } = require('../helpers/kone3')
const share = require('../helpers/share')
const until = require('../helpers/until')

/** Koa's class, and kone's in its place, by Koa's major version. */
const LINES = { 2: [Koa, Kone], 3: [Koa3, Kone3] }

/** How an app gets its server: by its own, or by one that others create. */
const SERVERS = {
  'app.listen()': app => app.listen(0, '127.0.0.1'),
  'app.callback()': app => http.createServer(app.callback()).listen(0, '127.0.0.1')
}

const PIECE = Buffer.alloc(32768, 'kone ')
const PIECES = 24

/** What every app of the table serves behind the package under test. */
const ROUTES = {
  '/': ctx => { ctx.body = { hello: 'world' } },
  '/text': ctx => { ctx.body = 'hello '.repeat(500) },
  '/empty': ctx => { ctx.status = 204 },
  '/error': () => { throw new Error('wrong') },
  '/refused': ctx => ctx.throw(403, 'not here'),
  '/stream': ctx => { ctx.body = Readable.from(['one ', 'two ', 'three']) },
  '/large': ctx => { ctx.body = Readable.from(Array.from({ length: PIECES }, () => PIECE)) },
  '/echo': async ctx => {
    const chunks = []
    for await (const chunk of ctx.req) chunks.push(chunk)
    ctx.body = Buffer.concat(chunks).toString()
  },
  // neither of them ends before the client leaves
  '/begins': ctx => { ctx.body = new PassThrough(); ctx.body.write('begun '.repeat(500)) },
  '/waits': (ctx, next, { wait }) => wait().then(() => { ctx.body = 'late' })
}

/** The exchanges that each package sees: what the client does → requests over one connection. */
const EXCHANGES = {
  'a response, then another on the same connection': [['GET /'], ['GET /text']],
  HEAD: [['HEAD /text'], ['GET /']],
  'no content': [['GET /empty'], ['GET /']],
  'an error in the handler': [['GET /error'], ['GET /refused'], ['GET /nowhere'], ['GET /']],
  'a body that is sent': [['POST /echo', { 'content-type': 'text/plain' }, 'some body'], ['GET /']],
  'a streamed body': [['GET /stream'], ['GET /']],
  'a large body that the client reads slowly': [['GET /large', {}, undefined, { isSlow: true }], ['GET /']]
}

/** Ways in which code in front of the package gets hold of `ctx.req` and `ctx.res`. */
const IN_FRONT = {
  nothing: null,
  listeners: (ctx, log) => {
    const { req, res } = ctx
    onFinished(res, () => {}) // as koa does: "listeners of on-finished" in lib/front/README.md
    for (const name of ['end', 'aborted', 'error', 'close']) req.on(name, () => log(`req ${name}`, req.complete))
    for (const name of ['prefinish', 'finish', 'close']) {
      res.on(name, () => log(`res ${name}`, res.statusCode, res.headersSent, res.writableEnded, res.writableFinished))
    }
  },
  'methods patched on the objects': ({ req, res }, log) => {
    const called = new Set() // how many chunks there are is a matter of reads
    for (const name of ['writeHead', 'write', 'end']) {
      const real = res[name]
      res[name] = function (...args) {
        if (!called.has(name)) log(`own res.${name}`, this === res)
        called.add(name)
        return real.apply(this, args)
      }
    }
    const { setHeader } = res
    res.setHeader = function (name, value) { return setHeader.call(this, name.toLowerCase() === 'x-own' ? 'X-Mine' : name, value) }
    const { resume } = req
    req.resume = function () { return resume.call(this) }
    res.setHeader('X-Own', 'patched')
  },
  'a subclass': ({ req, res }, log) => {
    Object.setPrototypeOf(req, class extends http.IncomingMessage {
      get shout () { return this.url.toUpperCase() }
    }.prototype)
    Object.setPrototypeOf(res, class extends http.ServerResponse {
      end (...args) {
        log('end of a subclass', this === res, req.shout)
        return super.end(...args)
      }
    }.prototype)
  }
}

/** Each row runs one way in `make test`, two in `make test-all`: its neighbour runs the next. */
let rows = 0

/**
 * Tests a published package in koa and in kone: the same app, the same requests over real sockets. Statuses, header
 * fields with their order, bodies, what is logged and in which order: all of it has to be the same, and kone's front has
 * to keep every connection.
 *
 *    sideBySide('compression', {
 *      set (app, { connect }) { app.use(connect(compression())) },
 *      exchanges: { gzip: [['GET /text', { 'accept-encoding': 'gzip' }]] }
 *    })
 *
 * @param {string} name
 * @param {object} row
 * @param {(app: Application, tools: { log, connect, isKone }) => unknown} row.set prepares an app; what it returns is
 *   closed with the site, if it has `close`
 * @param {Record<string, Array>} [row.exchanges] more of them: [line, headers, body] of each request
 * @param {Record<string, Function>} [row.routes] path → middleware
 * @param {string[]} [row.skip] titles of exchanges that the package does not leave to the app
 * @param {(text: string) => string} [row.mask] hides what differs from one request to the next
 * @param {boolean} [row.isSorted] what is logged after a response may come behind what the next request logs
 * @param {string[]} [row.inFront] names of what may be in front; all of them by default
 * @param {number[]} [row.lines] Koa's major versions that the package runs on: 2 and 3 by default
 */
function sideBySide (name, row) {
  const { lines: [line, ...others] = [2, 3] } = row
  const ways = (row.inFront ?? Object.keys(IN_FRONT)).map(inFront => [`in koa and kone behind ${inFront}`, IN_FRONT[inFront], { line }])
  for (const server of Object.keys(SERVERS)) {
    for (const one of server === 'app.listen()' ? others : [line, ...others]) {
      ways.push([`in koa ${one} and its kone by ${server}`, null, { line: one, server }])
    }
  }
  rows++
  describe(name, { concurrency: true }, () => {
    for (const [title, ...way] of share.long(share([0], [0, ways.length >> 1]).map(i => ways[(rows + i) % ways.length]), ways)) {
      it(`should do the same ${title}`, { timeout: 180000 }, () => compare(row, ...way))
    }
  })
}

async function compare (row, inFront, { line = 2, server = 'app.listen()' } = {}) {
  const sites = await Promise.all(LINES[line].map((Framework, i) => serve(Framework, row, inFront, { isKone: i === 1, server })))
  const warned = []
  const onWarning = ({ code }) => { if (code === 'KONE_WARN_FALLBACK') warned.push(code) }
  process.on('warning', onWarning)
  const isFront = server === 'app.listen()' // a server of others has the front once it has served a request
  try {
    const [koa, kone] = sites
    for (const [title, requests] of Object.entries({ ...EXCHANGES, ...row.exchanges })) {
      if (row.skip?.includes(title)) continue
      kone.sockets.length = 0
      await same(title, koa, kone, site => exchange(site, requests), row)
      if (isFront) assert(!kone.sockets.some(isNodes), `${title}: kone's front is used`)
    }
    kone.sockets.length = 0
    await same('pipelined', koa, kone, site => pipelined(site, ['/', '/text', '/']), { isSorted: true })
    for (const path of ['/begins', '/waits']) {
      if (!row.skip?.includes(path)) await same(`the client leaves ${path}`, koa, kone, site => leaves(site, path))
    }
    if (isFront) assert(kone.sockets.length > 0 && !kone.sockets.some(isNodes), "kone's front keeps every connection")
    assert(koa.sockets.length > 0 && koa.sockets.every(isNodes), "node:http has koa's")
    assert.deepEqual(warned, [])
  } finally {
    process.off('warning', onWarning)
    await Promise.all(sites.map(site => site.close()))
  }
}

/** Node's connection listener has this socket: koa's always, kone's never. */
const isNodes = socket => 'parser' in socket

/** Pipelined requests arrive and are sent together: only the order of events within each of them is defined. */
async function same (title, koa, kone, visit, { isSorted = false } = {}) {
  const [expected, actual] = await Promise.all([koa, kone].map(async site => {
    site.take()
    return visit(site)
  }))
  assert.deepEqual(actual, expected, title)
  const length = Math.max(...await Promise.all([koa.settled(-1), kone.settled(-1)]))
  await Promise.all([koa.settled(length), kone.settled(length)])
  const [expectedLog, log] = [koa, kone].map(site => isSorted ? site.take().sort() : site.take())
  assert.deepEqual(log, expectedLog, `${title}: what is logged`)
}

async function serve (Framework, row, inFront, { isKone, server: by }) {
  const app = new Framework({ keys: ['secret'] })
  const mask = row.mask ?? (text => text)
  const logged = []
  let leave
  const left = new Promise(resolve => { leave = resolve })
  let waiting = 0
  const log = (...what) => logged.push(mask(JSON.stringify(what)))
  const wait = () => {
    waiting++
    log('waits')
    return left
  }
  app.on('error', err => {
    // Koa 3 reports a client that leaves during a stream; kone@3 does not, as Koa 2.
    if (Framework !== Koa3 || err.code !== 'ERR_STREAM_PREMATURE_CLOSE') log('error', err.message, err.code, err.status)
  })
  if (inFront) {
    app.use(function inFrontOfAll (ctx, next) {
      inFront(ctx, log)
      return next()
    })
  }
  const more = await row.set(app, { log, connect, isKone, Koa: Framework })
  const routes = { ...ROUTES, ...row.routes }
  app.use((ctx, next) => Object.hasOwn(routes, ctx.path) ? routes[ctx.path](ctx, next, { log, wait }) : next())

  const server = SERVERS[by](app)
  server.keepAliveTimeout = 60000 // a busy machine may pause longer than 5 s between two requests
  const sockets = []
  server.on('connection', socket => sockets.push(socket))
  await once(server, 'listening')
  return {
    port: server.address().port,
    sockets,
    mask,
    leave,
    get isWaiting () { return waiting > 0 },
    take: () => logged.splice(0),
    /** Until nothing has been logged for a while and `length` entries are there, if they come; how many there are. */
    async settled (length) {
      if (logged.length < length) await until(() => logged.length >= length).catch(() => {})
      for (let still = 0, last = -1; still < 3 && logged.length !== length; still++) {
        if (logged.length !== last) still = 0
        last = logged.length
        await sleep(4)
      }
      return logged.length
    },
    async close () {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await more?.close?.()
    }
  }
}

/** Requests one after the other over one connection; what came back. */
async function exchange (site, requests) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set()
  const cookies = new Map()
  try {
    const responses = []
    for (const [line, headers, body, options] of requests) {
      const response = await ask(site, agent, line, { ...cookiesOf(cookies), ...headers }, body, options)
      for (const cookie of response.cookies) cookies.set(...cookie.split(';')[0].split(/=(.*)/s))
      ports.add(response.port)
      responses.push([line, response.status, response.reason, response.fields, response.text])
    }
    return { responses, connections: ports.size }
  } finally {
    agent.destroy()
  }
}

function cookiesOf (cookies) {
  return cookies.size > 0 ? { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') } : {}
}

function ask ({ port, mask }, agent, line, headers, body, { isSlow } = {}) {
  const [method, path] = line.split(' ')
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent, method, path, headers: { host: 'example.com', ...headers } }
    const req = http.request(options)
    const informed = []
    req.on('information', ({ statusCode, rawHeaders }) => informed.push([statusCode, ...rawHeaders]))
    req.on('error', reject)
    req.on('response', async res => {
      const { localPort } = res.socket
      try {
        if (isSlow) await sleep(20)
        const chunks = []
        for await (const chunk of res) chunks.push(chunk)
        const bytes = Buffer.concat(chunks)
        resolve({
          port: localPort,
          status: [...informed, res.statusCode],
          reason: res.statusMessage,
          cookies: res.headers['set-cookie'] ?? [],
          fields: mask(fieldsOf(res, port)),
          text: bytes.length > 65536 ? `${bytes.length} bytes` : mask(bytes.toString('latin1').replaceAll(port, 'PORT'))
        })
      } catch (err) {
        reject(err)
      }
    })
    req.end(body)
  })
}

/** Header section and trailers as text, in their order, without the time. */
function fieldsOf ({ rawHeaders, rawTrailers }, port) {
  const lines = []
  for (const raw of [rawHeaders, rawTrailers]) {
    for (let i = 0; i < raw.length; i += 2) {
      lines.push(raw[i].toLowerCase() === 'date' ? raw[i] : `${raw[i]}: ${raw[i + 1]}`)
    }
  }
  return lines.join('\n').replaceAll(port, 'PORT')
}

/** Several requests in one write, the last of which ends the connection; the bytes that came back. */
async function pipelined ({ port, mask }, paths) {
  const last = paths.length - 1
  const bytes = paths.map((path, i) => `GET ${path} HTTP/1.1\r\nHost: example.com\r\n${i < last ? '' : 'Connection: close\r\n'}\r\n`)
  const socket = net.connect({ port, host: '127.0.0.1' })
  socket.setEncoding('latin1')
  socket.write(bytes.join(''))
  let text = ''
  for await (const chunk of socket) text += chunk
  return mask(text.replace(/^Date: .*$/gm, 'Date').replaceAll(port, 'PORT'))
}

/** A client that leaves in the middle: of the response, or before there is one. */
async function leaves (site, path) {
  const socket = net.connect({ port: site.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: example.com\r\n\r\n`)
  if (path === '/begins') await once(socket, 'data')
  else await until(() => site.isWaiting)
  socket.destroy()
  await until(() => site.sockets.at(-1).destroyed)
  site.leave()
}

module.exports = { sideBySide, compare, WAYS: Object.keys(IN_FRONT) }
