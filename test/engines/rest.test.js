'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const path = require('node:path')
const { Readable, Writable } = require('node:stream')
const { pipeline } = require('node:stream/promises')
const { setTimeout: sleep } = require('node:timers/promises')
const koaBodyParser = require('koa-bodyparser')
const rawBody = require('raw-body')

const bodyParser = require('../../middleware/bodyParser')
const folder = require('../helpers/folder')
const Kone = require('../helpers/kone')
const { missing, which } = require('../helpers/programs')
const share = require('../helpers/share')
const until = require('../helpers/until')

const KB = 1024
const MB = 1024 * KB

/** A test that waits for what never comes fails by then, in ms; no timeout of the server may come before. */
const PATIENCE = 20000

/** A reader that takes nothing for so long holds the connection up; by lib/engines/rest.js it has 2 seconds, in ms. */
const LONG = 2600

/** How a reader stops. */
const LEAVES = 'leaves'     // the rest is dropped
const HOLDS = 'holds'       // the connection is closed, unless the whole body has arrived
const DESTROYS = 'destroys' // it closes the connection itself

/**
 * Readers that stop after about `n` bytes. `read` resolves when they have stopped.
 */
const READERS = {
  'none at all': { then: LEAVES, read: () => {} },
  'for await, break': { then: LEAVES, read: (ctx, n) => iterate(ctx.req, n) },
  'an iterator that leaves the stream': { then: LEAVES, read: (ctx, n) => iterate(ctx.req.iterator({ destroyOnReturn: false }), n) },
  'raw-body with a limit': { then: LEAVES, read: (ctx, n) => rawBody(ctx.req, { limit: n }).catch(() => {}) },
  'koa-bodyparser': { then: LEAVES, read: (ctx, n) => koaBodyParser({ textLimit: n, enableTypes: ['text'] })(ctx, () => {}).catch(() => {}) },
  bodyParser: { then: LEAVES, read: (ctx, n) => bodyParser({ textLimit: n, enableTypes: ['text'] })(ctx, async () => {}).catch(() => {}) },
  'readBody()': { then: LEAVES, read: async (ctx, n) => { await Promise.resolve(ctx.request.readBody({ limit: n })).catch(() => {}) } },
  'a pipeline into a writer that fails': { then: LEAVES, read: (ctx, n) => pipeline(ctx.req, failing(n)).catch(() => {}) },
  'a pipe into a writer that fails': {
    then: LEAVES,
    read: async (ctx, n) => {
      const writer = failing(n)
      ctx.req.pipe(writer)
      await Promise.race([once(writer, 'finish'), once(writer, 'error').catch(() => {})]).catch(() => {})
    }
  },
  'a web stream that is cancelled': {
    then: LEAVES,
    read: async (ctx, n) => {
      const reader = Readable.toWeb(ctx.req).getReader()
      for (let size = 0, read; size <= n; size += read.value.length) {
        read = await reader.read()
        if (read.done) return
      }
      await reader.cancel()
    }
  },
  "a listener for 'data' that pauses": { then: HOLDS, read: (ctx, n) => listen(ctx.req, n, () => ctx.req.pause()) },
  "a listener for 'data' that pauses and goes": {
    then: LEAVES,
    read: (ctx, n) => listen(ctx.req, n, listener => ctx.req.pause().off('data', listener))
  },
  "once(req, 'data')": { then: LEAVES, read: ctx => Promise.race([once(ctx.req, 'data'), once(ctx.req, 'end')]) },
  "once(req, 'readable')": { then: LEAVES, read: ctx => once(ctx.req, 'readable') },
  "a listener for 'readable' that reads nothing": {
    then: HOLDS,
    read: ctx => new Promise(resolve => ctx.req.on('readable', resolve))
  },
  'pause()': { then: LEAVES, read: ctx => { ctx.req.pause() } },
  'destroy()': { then: DESTROYS, read: (ctx, n) => listen(ctx.req, n, () => ctx.req.destroy()) }
}

async function iterate (chunks, n) {
  let size = 0
  for await (const { length } of chunks) if ((size += length) > n) break
}

function failing (n) {
  return new Writable({
    write (chunk, encoding, callback) {
      n -= chunk.length
      callback(n < 0 ? new Error('full') : null)
    }
  })
}

function listen (req, n, stop) {
  return new Promise(resolve => {
    const end = () => resolve(req.off('data', take))
    const take = ({ length }) => {
      n -= length
      if (n >= 0) return
      req.off('end', end)
      stop(take)
      resolve()
    }
    req.on('data', take).once('end', end)
  })
}

const SIDES = {
  front: app => app.listen(0, '127.0.0.1'),
  'front, ctx.req touched': app => app.use((ctx, next) => ctx.req && next()).listen(0, '127.0.0.1'),
  'node:http': app => http.createServer(Object.assign(app, { http1: false }).callback()).listen(0, '127.0.0.1')
}

const open = []
after(() => { for (const server of open) server.close().closeAllConnections() })

async function serve (side, fn) {
  const app = new Kone()
  app.silent = true
  const server = SIDES[side](app)
  app.use(fn)
  server.keepAliveTimeout = 10 * PATIENCE
  open.push(server)
  if (!server.listening) await once(server, 'listening')
  return server.address().port
}

/** Sends a body and a request behind it. @return {Promise<{ text: string, wasClosed: boolean }>} */
async function talk (port, { target, size, framing }) {
  const client = new Client(port)
  const isChunked = framing === 'chunked'
  client.write([
    `POST ${target} HTTP/1.1`, 'Host: a', 'Content-Type: text/plain',
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`,
    ...framing === 'Expect' ? ['Expect: 100-continue'] : [], '', ''
  ].join('\r\n'))
  if (framing === 'Expect') await client.until(() => client.text.includes('\r\n\r\n'))
  const piece = Buffer.alloc(32 * KB, 'x')
  for (let left = size; left > 0 && !client.hasEnded; left -= piece.length) {
    const data = piece.subarray(0, left)
    if (isChunked) client.write(`${data.length.toString(16)}\r\n`)
    client.write(data)
    if (isChunked) client.write('\r\n')
    await client.until(() => !client.socket.writableNeedDrain)
  }
  client.write((isChunked ? '0\r\n\r\n' : '') + 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.until(() => client.text.endsWith('next 0'))
  client.socket.destroy()
  return { text: client.text.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, ''), wasClosed: client.hasEnded }
}

/** Reads while it writes, and keeps its side open. */
class Client {
  constructor (port) {
    this.text = ''
    this.hasEnded = false
    this.wake = () => {}
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
    this.socket.on('drain', () => this.wake()).on('data', text => {
      this.text += text
      this.wake()
    })
    for (const event of ['end', 'close', 'error']) this.socket.on(event, () => this.end())
  }

  end () {
    this.hasEnded = true
    this.wake()
  }

  write (bytes) {
    if (!this.hasEnded) this.socket.write(bytes)
  }

  /** Until it holds, or the server has closed the connection. */
  async until (holds) {
    const timer = setTimeout(() => {
      this.text += ' and waited in vain'
      this.end()
    }, PATIENCE)
    while (!this.hasEnded && !holds()) await new Promise(resolve => { this.wake = resolve })
    clearTimeout(timer)
  }
}

async function respond (ctx) {
  if (ctx.path === '/next') {
    ctx.body = `next ${(await ctx.request.readBody()).length}`
    return
  }
  const { reader, stop } = ctx.query
  await READERS[reader].read(ctx, Number(stop))
  if (stop > KB) await sleep(50) // what nobody reads meanwhile pauses the socket
  ctx.status = 413
}

const SIZES = share([10 * KB, 300 * KB, 4 * MB], [10 * KB, 100 * KB, 300 * KB, 4 * MB, 10 * MB])
const STOPS = share([100, 40 * KB], [1, 100, 5 * KB, 40 * KB, 400 * KB])
const FRAMINGS = ['length', 'chunked', 'Expect']

const CASES = SIZES.flatMap(size => STOPS.flatMap(stop => FRAMINGS.map(framing => ({ size, stop, framing }))))

/** Some of the cases, others for each reader and side. */
const casesOf = (reader, side) => {
  const from = Object.keys(READERS).indexOf(reader) + Object.keys(SIDES).indexOf(side)
  return CASES.filter((one, i) => (i + from) % share(2, 8, 4) === 0)
}

const targetOf = (reader, stop) => `/?reader=${encodeURIComponent(reader)}&stop=${stop}`

/** What is wrong with a connection, or ''. */
function faultOf ({ size, stop, framing, then, text, wasClosed }) {
  if (text.includes('in vain')) return 'it hangs'
  if (then === DESTROYS) return ''
  if (!text.startsWith('HTTP/1.1 413')) return 'there is no response'
  if (then !== HOLDS || size < 40 * KB) return wasClosed ? 'it was closed' : ''
  if (size - stop < 200 * KB || framing === 'chunked') return '' // node's buffer may hold the whole body
  return wasClosed ? '' : 'it was not closed'
}

for (const side of Object.keys(SIDES)) {
  describe(`the rest of a body behind a response, ${side}`, { concurrency: 8 }, () => {
    for (const [reader, { then }] of Object.entries(READERS)) {
      it(`should be dropped, or the connection closed: ${reader}`, async () => {
        const port = await serve(side, respond)
        const found = await Promise.all(casesOf(reader, side).map(async one => {
          const seen = await talk(port, { target: targetOf(reader, one.stop), ...one })
          return { ...one, ...seen, fault: faultOf({ ...one, ...seen, then }) }
        }))
        assert.deepEqual(found.filter(({ fault }) => fault !== ''), [])
      })
    }
  })
}

/** By the fields of the request: how the length of its body is given, and whether a next request can follow. */
const WAYS = {
  'of a length': 'Content-Length',
  'in chunks': 'Transfer-Encoding',
  'of a length, Connection: close': 'Connection: close\r\nContent-Length',
  'in chunks, Connection: close': 'Connection: close\r\nTransfer-Encoding'
}

for (const [side, isNode] of Object.entries({ front: false, 'front, ctx.req touched': false, 'node:http': true })) {
  describe(`a long body that nobody reads, ${side}`, { concurrency: 4 }, () => {
    for (const [way, fields] of Object.entries(WAYS)) {
      if (isNode && way.includes('close')) continue // node:http resets the connection
      it(`should cost no client the response, which many read behind their last byte, or the next one: ${way}`, async () => {
        const port = await serve(side, ctx => { ctx.status = ctx.method === 'GET' ? 204 : 401 })
        const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause().setEncoding('latin1')
        const isChunked = fields.endsWith('Encoding')
        socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${fields}: ${isChunked ? 'chunked' : 16 * MB}\r\n\r\n`)
        const piece = Buffer.alloc(MB, 'x')
        for (let i = 0; i < 16; i++) {
          const data = isChunked ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]) : piece
          await new Promise((resolve, reject) => socket.write(data, err => err ? reject(err) : resolve()))
        }
        // Python's http.client and node's Agent send it on this connection.
        const isKept = !way.includes('close')
        if (isKept) socket.write(`${isChunked ? '0\r\n\r\n' : ''}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
        let text = ''
        for await (const chunk of socket) text += chunk
        assert.deepEqual(text.match(/(?<=HTTP\/1.1 )\d+/g), isKept ? ['401', '204'] : ['401'])
        socket.destroy()
      })
    }
  })
}

it('should close the connection of a long rest that does not end, on every engine', () => {
  const endless = `
    const timers = require('timers')
    const { setTimeout } = timers
    timers.setTimeout = (fn, ms, ...args) => setTimeout(fn, ms === 30_000 ? 1 : ms, ...args)
    const net = require('net')
    const Kone = require(${JSON.stringify(path.resolve(__dirname, '../..'))})
    const sides = [{}, { http1: false }, {}]
    sides.forEach((options, i) => {
      const server = new Kone(options).use(ctx => { ctx.status = i === 2 && ctx.req ? 401 : 404 }).listen(0, '127.0.0.1', () => {
        const socket = net.connect(server.address().port, '127.0.0.1').on('error', () => {}).on('close', () => {
          server.close()
          console.log('closed')
        }).resume()
        socket.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: ${8 * MB}\\r\\n\\r\\n')
        socket.write(Buffer.alloc(${2 * MB}))
      })
    })`
  const { stdout } = spawnSync(process.execPath, ['-e', endless], { encoding: 'utf8', timeout: PATIENCE })
  assert.equal(stdout, 'closed\n'.repeat(3))
})

/** Who reads on behind the response, and how: each takes longer than a reader may take nothing. */
const WORKING = {
  'a pipe into a stream that takes its time': async ctx => {
    const writer = new Writable({
      highWaterMark: 1,
      write (chunk, encoding, callback) {
        setTimeout(callback, this.size === undefined ? LONG : 0)
        this.size = (this.size ?? 0) + chunk.length
      }
    })
    ctx.req.pipe(writer)
    await once(writer, 'finish')
    return writer.size
  },
  'for await with work for each chunk': async ctx => {
    let size = 0
    let isWorking = true
    sleep(LONG).then(() => { isWorking = false })
    for await (const chunk of ctx.req) {
      size += chunk.length
      if (isWorking) await sleep(700)
    }
    return size
  },
  "a listener for 'data'": async ctx => {
    let size = 0
    await once(ctx.req.on('data', chunk => { size += chunk.length }), 'end')
    return size
  },
  'readBody()': async ctx => (await ctx.request.readBody({ limit: 2 * MB })).length,
  'a reader that pauses before the response has ended': async ctx => {
    let size = 0
    ctx.respond = false
    ctx.req.on('data', chunk => { size += chunk.length }).pause()
    ctx.res.write('early')
    await sleep(LONG)
    ctx.res.end()
    ctx.req.resume()
    await once(ctx.req, 'end')
    return size
  }
}

/** All beside each other: they wait longer than they compute. */
function onSides (title, options, define) {
  describe(title, { concurrency: true, ...options }, () => {
    for (const side of Object.keys(SIDES)) describe(side, () => define(side))
  })
}

onSides('a reader behind the response', {}, side => {
  for (const [reader, read] of Object.entries(WORKING)) {
    it(`should get the whole body: ${reader}`, async () => {
      let size
      const port = await serve(side, ctx => {
        ctx.status = 401
        ctx.body = 'early'
        if (ctx.method === 'GET') ctx.body = 'next'
        else size = read(ctx)
      })
      const client = new Client(port)
      client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${MB + LONG}\r\n\r\n`)
      client.write(Buffer.alloc(MB))
      await client.until(() => client.text.includes('early'))
      for (let i = 0; i < LONG; i += 100) { // slowly
        client.write(Buffer.alloc(100))
        await sleep(100)
      }
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      await client.until(() => client.text.endsWith('next'))
      assert.match(client.text, /next$/)
      client.socket.destroy()
      assert.equal(await size, MB + LONG)
    })
  }
})

describe('the rest of a body behind a response, HTTP/2', { concurrency: true }, () => {
  for (const [reader, { then }] of Object.entries(READERS)) {
    it(`should end the stream, and hold up no other one: ${reader}`, async () => {
      const app = new Kone()
      app.silent = true
      const server = http2.createServer(app.use(respond).callback()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
      try {
        const stream = session.request({ ':method': 'POST', ':path': targetOf(reader, 100), 'content-type': 'text/plain' })
        const [streamed] = await once(server, 'stream')
        stream.resume().on('error', () => {}).write(Buffer.alloc(MB)) // more than a connection's window, and no end
        if (then !== DESTROYS) assert.equal((await once(stream, 'response'))[0][':status'], 413)
        await until(() => then === HOLDS ? streamed.closed : streamed.destroyed)
        const next = session.request({ ':method': 'POST', ':path': '/next' })
        next.setEncoding('utf8').end(Buffer.alloc(300 * KB))
        assert.equal((await next.toArray()).join(''), `next ${300 * KB}`)
      } finally {
        session.destroy()
        server.close()
      }
    })
  }
})

onSides('the rest of a body behind nginx', { skip: missing('nginx') }, side => {
  for (const buffering of ['on', 'off']) {
    it(`should cost the next user no response, proxy_request_buffering ${buffering}`, async t => {
      const port = await serve(side, respond)
      const socketPath = await nginx(t, port, buffering)
      const failures = []
      for (const [reader, { then }] of Object.entries(READERS)) {
        for (const size of then === HOLDS ? [] : SIZES) { // for 2 seconds nobody knows that these will not read on
          await post(socketPath, targetOf(reader, 100), size).catch(() => {})
          for (let user = 0; user < 3; user++) {
            const { status, text } = await post(socketPath, '/next', 10)
            if (status !== 200) failures.push({ reader, size, user, status, text })
          }
        }
      }
      assert.deepEqual(failures, [])
    })
  }

  // Nobody knows that it will not read on, and nginx has sent the whole body, so that it keeps the connection.
  it('should cost one user at most a response, after 2 seconds: a reader that holds', async t => {
    const socketPath = await nginx(t, await serve(side, respond), 'on')
    const statuses = []
    for (const target of [targetOf("a listener for 'data' that pauses", 100), '/next', '/next']) {
      statuses.push((await post(socketPath, target, target === '/next' ? 10 : MB)).status)
    }
    // Unless the whole body has arrived. After PATIENCE it would be a 504.
    assert.match(statuses.join(), /^413,(?:502|200),200$/)
  })
})

/** @return {Promise<string>} path of the socket that nginx listens at, in front of `port` */
async function nginx (t, port, buffering) {
  const at = folder()
  const conf = path.join(at, 'nginx.conf')
  const socketPath = path.join(at, 'nginx.sock')
  fs.writeFileSync(conf, `
    daemon off; master_process off; pid ${at}/pid; error_log ${at}/error.log;
    events { worker_connections 512; }
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${at}/${name};`).join(' ')}
      upstream kone { server 127.0.0.1:${port}; keepalive 8; }
      server {
        listen unix:${socketPath}; client_max_body_size 0;
        location / {
          proxy_pass http://kone; proxy_http_version 1.1; proxy_set_header Connection "";
          proxy_request_buffering ${buffering}; proxy_read_timeout ${PATIENCE}ms;
        }
      }
    }`)
  const child = spawn(which('nginx'), ['-e', path.join(at, 'error.log'), '-c', conf], { stdio: 'ignore' })
  t.after(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await until(() => { // the file is there before nginx listens
    if (child.exitCode !== null) assert.fail(`nginx has ended: ${fs.readFileSync(path.join(at, 'error.log'), 'utf8')}`)
    return post(socketPath, '/next', 10).catch(() => null)
  })
  return socketPath
}

/** One request of a user, on a connection of its own. */
function post (socketPath, target, size) {
  return new Promise((resolve, reject) => {
    const req = http.request({ socketPath, path: target, method: 'POST', agent: false, headers: { 'content-type': 'text/plain', 'content-length': size } })
    req.on('error', reject).on('response', async res => {
      const text = (await res.setEncoding('latin1').toArray().catch(() => [])).join('')
      resolve({ status: res.statusCode, text })
    })
    req.end(Buffer.alloc(size))
  })
}
