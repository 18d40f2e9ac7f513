'use strict'

const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { Session } = require('node:inspector')
const net = require('node:net')
const path = require('node:path')
const { Readable } = require('node:stream')
const { text } = require('node:stream/consumers')
const { setImmediate } = require('node:timers/promises')
const { fileURLToPath } = require('node:url')

const ROOT = path.join(__dirname, '..')

/** Requests before the first that is counted: caches are filled, and code is compiled. */
const WARM = 200

/** The shortest counts, because during the others a timer of the server may have fired. */
const TRIES = 5

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n'
const BODY = 'Hello World'
const POST = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
const hello = async ctx => { ctx.body = 'Hello World' }

// The handler behind four middleware, what is sent, and the end of each response.
const WALKS = {
  'a GET': { handler: hello },
  'a POST with a body': {
    handler: async ctx => { ctx.body = await (ctx.request.readBody?.() ?? text(ctx.req)) },
    sent: POST
  },
  'a stream': {
    handler: async ctx => {
      ctx.type = 'text/plain'
      ctx.body = Readable.from(['Hello ', 'World'])
    },
    end: '\r\n0\r\n\r\n'
  },
  'an error': { handler: async ctx => { ctx.throw(400, 'Hello World') } },
  'a pipelined pair': { handler: hello, sent: GET + GET, responses: 2 }
}

/**
 * The functions of a framework that a request enters: keep-alive over a real socket, after many of the same, through
 * five middleware whose own functions do not count. Five walks: a GET, a POST with a body, a stream, an error, and two
 * pipelined requests.
 *
 *    walks('kone')['a GET']
 *    // { files: [{ file: 'lib/application.js', lines: 31, functions: ['dispatch', 'finish', …] }, …],
 *    //   lines: 812, functions: 108, ofNode: 12 }
 *
 * @param {string} framework 'kone', or a package with Koa's API
 * @return {{ [walk: string]: { files: Array<{ file: string, lines: number, functions: string[] }>, lines: number,
 *   functions: number, ofNode: number } }} by walk; files in the order of their names; lines: of the functions that are
 *   entered; ofNode: functions of node's own http
 */
function walks (framework) {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production' } // NODE_V8_COVERAGE would reset the counters
  const printed = execFileSync(process.execPath, [__filename, '--walk', framework], { cwd: ROOT, encoding: 'utf8', env })
  return JSON.parse(printed)
}

async function measureAll (framework) {
  const App = require(framework === 'kone' ? '..' : framework)
  const session = new Session()
  session.connect()
  const post = (method, params) => new Promise((resolve, reject) => {
    session.post(method, params, (err, result) => err ? reject(err) : resolve(result))
  })
  const exchanges = []
  for (const [name, walk] of Object.entries(WALKS)) exchanges.push([name, await open(App, walk)])
  await post('Profiler.enable')
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const found = {}
  for (const [name, { exchange, close }] of exchanges) {
    for (let i = 0; i <= TRIES; i++) {
      await exchange()
      const { result } = await post('Profiler.takePreciseCoverage')
      const walk = entered(result)
      if (i > 0 && !(found[name]?.functions <= walk.functions)) found[name] = walk // the first compiles
    }
    close()
  }
  return found
}

// An app that serves, and a client whose exchanges have been many already.
async function open (App, { handler, sent = GET, end = '\r\n\r\nHello World', responses = 1 }) {
  const app = new App()
  for (let i = 0; i < 4; i++) app.use(async (ctx, next) => { await next() })
  const server = app.use(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect(server.address().port, '127.0.0.1').setEncoding('latin1')
  await once(socket, 'connect')
  async function exchange () {
    socket.write(sent)
    let received = ''
    while (received.split(end).length <= responses) received += (await once(socket, 'data'))[0]
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

function entered (scripts) {
  const files = []
  let ofNode = 0
  for (const { url, functions } of scripts) {
    const called = functions.filter(({ ranges: [{ count }] }) => count > 0)
    if (called.length === 0) continue
    if (/^node:(?:_http|internal\/http)/.test(url)) ofNode += called.length
    if (!url.startsWith('file:')) continue
    const file = path.relative(ROOT, fileURLToPath(url)).split(path.sep).join('/')
    if (!/^(?:lib|node_modules)\//.test(file)) continue
    const names = called.map(({ functionName }) => functionName || '(anonymous)').sort()
    files.push({ file, lines: linesOf(file, called), functions: names })
  }
  const sum = of => files.reduce((all, file) => all + of(file), 0)
  return {
    files: files.sort((a, b) => a.file < b.file ? -1 : 1),
    lines: sum(({ lines }) => lines),
    functions: sum(({ functions }) => functions.length),
    ofNode
  }
}

// Lines of functions, each counted once.
function linesOf (file, functions) {
  const source = fs.readFileSync(path.join(ROOT, file), 'utf8')
  const lines = new Set()
  for (const { ranges: [{ startOffset, endOffset }] } of functions) {
    const first = source.slice(0, startOffset).split('\n').length
    const count = source.slice(startOffset, endOffset).split('\n').length
    for (let i = 0; i < count; i++) lines.add(first + i)
  }
  return lines.size
}

function print (framework) {
  for (const [name, { files, lines, functions, ofNode }] of Object.entries(walks(framework))) {
    console.log(`${framework}, ${name}: ${functions} functions of ${lines} lines in ${files.length} files, ` +
      `and ${ofNode} functions of node's http; Node ${process.versions.node}\n`)
    for (const { file, functions } of files) console.log(`  ${file} (${functions.length}): ${functions.join(', ')}`)
    console.log()
  }
}

module.exports = { walks }

if (require.main === module) {
  const [first, framework] = process.argv.slice(2)
  if (first === '--walk') measureAll(framework).then(found => process.stdout.write(JSON.stringify(found)))
  else for (const name of first === undefined ? ['kone', 'koa'] : [first]) print(name)
}
