'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { createHash, randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Readable } = require('node:stream')
const { text } = require('node:stream/consumers')
const { describe, it } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const bodyParser = require('kone/middleware/bodyParser')
const { go } = require('../../benchmarks/lib/servers/program')
const folder = require('../helpers/folder')
const Kone = require('../helpers/kone')
const { missing, which } = require('../helpers/programs')
const python = require('../helpers/python')
const share = require('../helpers/share')

const LENGTH = 10_000_000
const SIZES = [1, 1024, 65_536, 1_048_576]
const PATIENCE = 60_000 // ms: a client that is not done by then hangs
const PYTHON = ['aiohttp==3.14.5', 'httpx==0.28.1', 'requests==2.34.2']

const content = randomBytes(LENGTH * 3 / 4).toString('base64')
const FILE = join(folder({ content }), 'content')
const RECEIVED = received(content)

const parse = bodyParser({ enableTypes: ['text'], textLimit: '20mb' })

/** The last one leaves the client's body to kone, which may close the connection. */
const READERS = {
  async iterator (ctx) {
    const chunks = []
    for await (const chunk of ctx.req) {
      chunks.push(chunk)
      await sleep(5)
    }
    return received(Buffer.concat(chunks))
  },
  async readBody (ctx) {
    await sleep(30)
    return received(await ctx.request.readBody({ limit: 20e6 }))
  },
  async bodyParser (ctx) {
    await sleep(30)
    await parse(ctx, () => {})
    return received(ctx.request.body)
  },
  async nobody () {
    await sleep(30)
    return 'not read'
  }
}
const PATHS = Object.keys(READERS).map(name => `/${name}`)

/** What is printed about the readers that read. */
const SAME = 'the same connection'
const WHOLE = PATHS.slice(0, -1).flatMap(path => [`${RECEIVED} 200 ${path}`, `${SAME} 200 /next`])

const uploadOf = name => join(__dirname, 'uploads', name)

/** What each needs, and its command but for FILE, SIZES, ORIGIN and PATHS. */
const CLIENTS = {
  requests: { program: 'python3', command: t => ofPython('requests', t) },
  httpx: { program: 'python3', command: t => ofPython('httpx', t) },
  aiohttp: { program: 'python3', command: t => ofPython('aiohttp', t) },
  'net/http of Go': { isAlone: true, program: 'go', command: async () => [await go(uploadOf('upload.go'))] },
  'HttpClient of Java': { program: 'javac', command: () => ofJava('HTTP_1_1') },
  // As it is by default. Node gets such a request, and may stop behind a body that nobody reads, until keepAliveTimeout.
  'HttpClient of Java with Upgrade: h2c': { program: 'javac', command: () => ofJava('HTTP_2'), paths: PATHS.slice(0, -1) },
  'Net::HTTP of Ruby': { program: 'ruby', command: () => [which('ruby'), uploadOf('upload.rb')] },
  curl: { program: 'curl', send: sendByCurl }
}

const isAlone = client => CLIENTS[client].isAlone === true

/** Of the clients, those that try node:http, too. */
const onNode = new Set(share.third(Object.keys(CLIENTS)))

// Alone: the server must have read what came before a pause of that client, or the pause separates nothing.
for (const alone of [true, false]) {
  describe('10 MB that arrive chunked, read slowly', { concurrency: true }, () => {
    Object.keys(CLIENTS).filter(client => isAlone(client) === alone).forEach(uploads)
  })
}

function uploads (client) {
  const { program, command, send = sendBy, paths = PATHS } = CLIENTS[client]
  describe(client, { concurrency: 1, skip: missing(program) }, () => {
    for (const http1 of onNode.has(client) ? [true, false] : [true]) {
      it(`should be whole on ${http1 ? 'the front' : 'node:http'}, and the next request be responded to`, async t => {
        const found = await command?.(t)
        if (found === null) return // skipped
        const server = listen(http1)
        try {
          await once(server, 'listening')
          const lines = await send(`http://127.0.0.1:${server.address().port}`, paths, found)
          const [upload, next] = lines.splice(WHOLE.length)
          assert.deepEqual(lines, WHOLE)
          if (paths !== PATHS) return
          assert.match(upload, /^not read 200 \/nobody$| (?:failed|000) \/nobody$/)
          assert.match(next, /^(?:the same|another) connection 200 \/next$| (?:failed|000) \/next$/)
          t.diagnostic(`${upload}; ${next}`)
        } finally {
          server.close()
          server.closeAllConnections()
        }
      })
    }
  })
}

function listen (http1) {
  let connections = 0
  let before = 0 // the upload ended
  const app = new Kone({ http1 }).use(async ctx => {
    if (ctx.path === '/next') return (ctx.body = before === connections ? SAME : 'another connection')
    ctx.body = await READERS[ctx.path.slice(1)](ctx)
    before = connections
  })
  app.silent = true // a client that goes away
  const server = app.listen(0, '127.0.0.1').on('connection', () => connections++)
  server.keepAliveTimeout = PATIENCE
  return server
}

function received (body) {
  return `${body.length} ${createHash('sha256').update(body).digest('hex')}`
}

function ofPython (client, t) {
  const bin = python('http-clients', PYTHON, t)
  return bin && [join(bin, 'python'), uploadOf('upload.py'), client]
}

function ofJava (version) {
  return [which('java'), `-Dversion=${version}`, uploadOf('Upload.java')]
}

function sendBy (origin, paths, command) {
  return linesOf([...command, FILE, SIZES.join(), origin, ...paths])
}

/** It reads one body from stdin, so that each has its own process. */
async function sendByCurl (origin, paths) {
  const lines = []
  for (const path of paths) {
    const get = path => ['-sS', '-w', ` %{http_code} ${path}\n`, origin + path]
    const upload = ['-X', 'POST', '-T', '-', '-H', 'Content-Type: text/plain', ...get(path)]
    lines.push(...await linesOf([which('curl'), ...upload, '--next', ...get('/next')], pieces()))
  }
  return lines
}

function * pieces () {
  const buffer = readFileSync(FILE)
  for (let at = 0, i = 0; at < LENGTH; at += SIZES[i++ % SIZES.length]) yield buffer.subarray(at, at + SIZES[i % SIZES.length])
}

/** The lines that a program prints; what else happened is one more. */
async function linesOf ([program, ...args], input) {
  const child = spawn(program, args, { timeout: PATIENCE, killSignal: 'SIGKILL', stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
  if (input) Readable.from(input).pipe(child.stdin.on('error', () => {})) // curl reads no more when its connection is closed
  const [[code, signal], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  const lines = stdout.split('\n').slice(0, -1)
  if (signal) lines.push(`it hangs: ${signal} after ${PATIENCE} ms`)
  else if (code !== 0 && !input) lines.push(`exit code ${code}: ${stderr}`)
  return lines
}
