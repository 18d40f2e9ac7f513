'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { Session } = require('node:inspector')
const net = require('node:net')
const path = require('node:path')
const { Readable } = require('node:stream')
const { setImmediate } = require('node:timers/promises')
const { fileURLToPath } = require('node:url')

const ROOT = path.join(__dirname, '../..')

/** Requests before the first that is counted: caches are filled, and code is compiled. */
const WARM = 200

/** The shortest counts, because during the others a timer of the server may have fired. */
const TRIES = 5

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n'
const BODY = 'Hello World'
const POST = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
const hello = async ctx => { ctx.body = BODY }

// What is sent, the handler behind four middleware, the end of each response, and the most functions and files of lib that the
// request enters. Lower these when the walk of a request gets shorter; what makes it longer has a reason. A GET had 116 functions
// in 26 files before Host was checked, the states of a response were derived from one, and the turn of the event loop had a file.
// What is left is called from several places, is a getter that holds one rule, or is a member that Koa lets an app replace.
const WALKS = {
  'a GET': { most: [120, 26] }, // ctx.body= uses the setter of ctx.type, which may be the app's
  'a POST with a body': { most: [139, 29], sent: POST, handler: async ctx => { ctx.body = await ctx.request.readBody() } },
  'a stream': { most: [180, 34], handler: async ctx => { ctx.body = Readable.from(['Hello ', 'World']) }, end: '\r\n0\r\n\r\n' },
  'an error': { most: [134, 28], handler: async ctx => { ctx.throw(400, BODY) } },
  'a pipelined pair': { most: [134, 26], sent: GET + GET, responses: 2 } // isEmitPatched(): websocket() replaces a server's emit
}

// In a process of its own: NODE_V8_COVERAGE would reset the counters.
if (process.argv[2] === '--walk') count().then(found => process.stdout.write(JSON.stringify(found)))
else test(require('node:test'))

function test ({ describe, it }) {
  describe('the walk of a request through five middleware, whose own functions do not count', () => {
    const env = { PATH: process.env.PATH, NODE_ENV: 'production' }
    const printed = execFileSync(process.execPath, [__filename, '--walk'], { encoding: 'utf8', env })
    const found = JSON.parse(printed)

    for (const [name, { most: [functions, files] }] of Object.entries(WALKS)) {
      it(`should enter no more functions and files than before: ${name}`, () => {
        const { entered, ofNode } = found[name]
        const list = entered.map(([file, names]) => `${file} (${names.length}): ${names.join(', ')}`).join('\n')
        assert(entered.some(([file]) => file === 'lib/front/index.js') && ofNode === 0, 'it goes through the front')
        assert(sizeOf(entered) <= functions && entered.length <= files, `${sizeOf(entered)} functions in ${entered.length} files:\n${list}`)
      })
    }
  })
}

const sizeOf = entered => entered.reduce((sum, [, names]) => sum + names.length, 0)

/** The functions that each walk enters, and how many of node's http. */
async function count () {
  const session = new Session()
  session.connect()
  const post = (method, params) => new Promise((resolve, reject) => {
    session.post(method, params, (err, result) => err ? reject(err) : resolve(result))
  })
  const opened = {}
  for (const [name, walk] of Object.entries(WALKS)) opened[name] = await open(walk)
  await post('Profiler.enable')
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const found = {}
  for (const [name, { exchange, close }] of Object.entries(opened)) {
    for (let i = 0; i <= TRIES; i++) {
      await exchange()
      const walk = read((await post('Profiler.takePreciseCoverage')).result)
      if (i <= 1 || sizeOf(walk.entered) < sizeOf(found[name].entered)) found[name] = walk // the first compiles
    }
    close()
  }
  return found
}

/** An app that serves, and a client whose exchanges have been many already. */
async function open ({ handler = hello, sent = GET, end = '\r\n\r\nHello World', responses = 1 }) {
  const Kone = require('kone')
  const app = new Kone()
  for (let i = 0; i < 4; i++) app.use(async (ctx, next) => { await next() })
  const server = app.use(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect(server.address().port, '127.0.0.1').setEncoding('latin1')
  await once(socket, 'connect')
  async function exchange () {
    socket.write(sent)
    for (let received = ''; received.split(end).length <= responses;) received += (await once(socket, 'data'))[0]
    await setImmediate() // what the server does after it
    await setImmediate()
  }
  for (let i = 0; i < WARM; i++) await exchange()
  return {
    exchange,
    close () {
      socket.destroy()
      server.close()
    }
  }
}

function read (scripts) {
  const entered = []
  let ofNode = 0
  for (const { url, functions } of scripts) {
    const names = functions.filter(({ ranges: [{ count }] }) => count > 0).map(({ functionName }) => functionName || '(anonymous)')
    if (/^node:(?:_http|internal\/http)/.test(url)) ofNode += names.length
    const file = url.startsWith('file:') ? path.relative(ROOT, fileURLToPath(url)).replaceAll('\\', '/') : ''
    if (names.length > 0 && /^(?:lib|node_modules)\//.test(file)) entered.push([file, names.sort()])
  }
  return { entered, ofNode }
}
