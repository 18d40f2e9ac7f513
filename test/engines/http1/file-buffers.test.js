'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')
const { PassThrough, Readable } = require('node:stream')
const { after, before, describe, it } = require('node:test')

const { End } = require('../../../lib/engines/memory/pipe')
const { kReuse, lend, takeBack } = require('../../../lib/core/file-stream')
const serve = require('../../../middleware/static')
const Kone = require('../../helpers/kone')
const folder = require('../../helpers/folder')
const { random } = require('../../helpers/random')
const share = require('../../helpers/share')
const until = require('../../helpers/until')
const { credentials, settled } = require('./sides')

/*
 * What a client gets while the buffers of files are used again. The generator mixes sizes, ranges, pipelined requests, HEAD,
 * several responses on a connection, streams of the app and of middleware/static, clients that read slowly and clients that
 * leave, over TCP and TLS.
 */

const KB = 1024
const SIZES = [1, 15 * KB, 16 * KB, 64 * KB, 128 * KB, 128 * KB + 1, 300 * KB, 2048 * KB, 24 * 1024 * KB]
const TEXT = 'a text '.repeat(50 * KB)
const VISITS = share(3, 5, 12) // of each of 12 clients
const STALLED = 2 // clients
const LARGE = SIZES.length - 1 // more than a system takes for a client that does not read

/** Bytes that tell of which file and of which position they are. */
function contentOf (number, length) {
  const content = Buffer.alloc(length)
  for (let i = 0; i < length; i++) content[i] = number * 31 + i + (i >> 8) * 7 + (i >> 16) * 13
  return content
}

describe('buffers of files', () => {
  const contents = SIZES.map((size, i) => contentOf(i, size))
  const root = folder({ ...Object.fromEntries(contents.map((content, i) => [String(i), content])), text: TEXT })
  const fileOf = number => path.join(root, String(number))
  let onStream = () => {}
  const sites = {}

  before(async () => {
    const app = new Kone({ silent: true })
    const own = serve(root, { cacheSize: 0 })
    app.use(async (ctx, next) => {
      if (ctx.search !== '?own') return next()
      await own(ctx, next)
      return onStream(ctx, ctx.body)
    })
    app.use(ctx => {
      const [number, start, end] = ctx.path.slice(1).split('-')
      const to = end ?? (SIZES[number] ?? TEXT.length) - 1
      ctx.length = to - (start ?? 0) + 1
      ctx.type = 'bin'
      ctx.body = fs.createReadStream(fileOf(number), end && { start: Number(start), end: Number(to) })
      return onStream(ctx, ctx.body)
    })
    app.on('error', () => {})
    const secure = https.createServer(await credentials())
    sites.tcp = app.listen(0, '127.0.0.1')
    sites.tls = app.attach(secure).listen(0, '127.0.0.1')
    await Promise.all(Object.values(sites).map(server => once(server, 'listening')))
  })

  after(() => {
    for (const server of Object.values(sites)) {
      server.closeAllConnections()
      server.close()
    }
  })

  async function get (target, method = 'GET') {
    const request = http.request({ port: sites.tcp.address().port, host: '127.0.0.1', path: `/${target}`, method, agent: false }).end()
    const [response] = await once(request, 'response')
    return Buffer.concat(await response.toArray())
  }

  function connect (site) {
    const to = { port: sites[site].address().port, host: '127.0.0.1', rejectUnauthorized: false }
    return site === 'tls' ? tls.connect(to) : net.connect(to)
  }

  /** Several requests on one connection, all sent at once; checks each response. Resolves with the number of complete ones. */
  async function visit (site, { targets, pause, leaveAfter }) {
    const socket = connect(site)
    socket.on('error', () => {})
    socket.write(targets.map(({ method, path }) => `${method} /${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    let complete = 0
    let received = 0
    let wanted = 0 // bytes without which the next response is not whole: chunks are put together once
    let chunks = []
    const check = () => {
      let text = Buffer.concat(chunks)
      for (let end; complete < targets.length && (end = text.indexOf('\r\n\r\n')) >= 0; complete++) {
        const { method, expected } = targets[complete]
        const head = text.subarray(0, end).toString('latin1')
        assert.match(head, new RegExp(`^HTTP/1\\.1 200 OK\r\n[^]*Content-Length: ${expected.length}(\r\n|$)`))
        const length = method === 'HEAD' ? 0 : expected.length
        wanted = end + 4 + length - text.length
        if (wanted > 0) break
        if (length) assert(text.subarray(end + 4, end + 4 + length).equals(expected), `${site} ${targets[complete].path}: other bytes`)
        text = text.subarray(end + 4 + length)
      }
      chunks = [text]
    }
    socket.on('data', chunk => {
      received += chunk.length
      chunks.push(chunk)
      wanted -= chunk.length
      if (wanted <= 0) check()
      if (complete === targets.length || received > leaveAfter) socket.destroy()
      if (pause) {
        socket.pause()
        setTimeout(() => socket.resume(), pause)
      }
    })
    await once(socket, 'close')
    if (received <= leaveAfter) assert.equal(complete, targets.length)
    return complete
  }

  function plan (rnd) {
    const targets = Array.from({ length: 1 + rnd.int(4) }, () => {
      const number = rnd.int(LARGE)
      const method = rnd.chance(0.1) ? 'HEAD' : 'GET'
      if (rnd.chance(0.6)) return { method, path: `${number}${rnd.chance(0.3) ? '?own' : ''}`, expected: contents[number] }
      const start = rnd.int(SIZES[number])
      const end = start + rnd.int(SIZES[number] - start)
      return { method, path: `${number}-${start}-${end}`, expected: contents[number].subarray(start, end + 1) }
    })
    return { targets, pause: rnd.chance(0.3) ? rnd.int(8) : 0, leaveAfter: rnd.chance(0.25) ? rnd.int(400 * KB) : Infinity }
  }

  for (const [site, seed] of [['tcp', 1], ['tcp', 2], ['tls', 3]]) {
    it(`should never change before the client has them, ${site}, seed ${seed}`, { timeout: 120_000 }, async () => {
      const rnd = random(seed)
      const complete = []
      const clients = Array.from({ length: 12 }, async () => {
        for (let i = 0; i < VISITS; i++) complete.push(await visit(site, plan(rnd)))
      })
      await Promise.all(clients)
      assert(complete.filter(number => number > 0).length > 12 * VISITS / 2)
      if (process.platform === 'linux') await until(() => openFiles(root) === 0)
    })
  }

  for (const [site, query] of [['tcp', ''], ['tcp', '?own'], ['tls', ''], ['tls', '?own']]) {
    it(`should not be used for others while a client does not read, ${site}, ${query || 'a stream of the app'}`, async () => {
      const server = sites[site]
      const sockets = []
      const onSocket = socket => sockets.push(socket)
      server.on(site === 'tls' ? 'secureConnection' : 'connection', onSocket)
      const stalled = await Promise.all(Array.from({ length: STALLED }, async () => {
        const socket = connect(site)
        await once(socket, site === 'tls' ? 'secureConnect' : 'connect')
        socket.pause()
        socket.write(`GET /${LARGE}${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
        return socket
      }))
      await until(() => sockets.filter(({ writableLength }) => writableLength > 0).length === STALLED)
      server.off(site === 'tls' ? 'secureConnection' : 'connection', onSocket)
      await settled(() => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0))
      for (const number of [2, 3, 4, 5, 6]) {
        for (const body of await Promise.all(Array.from({ length: 20 }, () => get(number)))) assert(body.equals(contents[number]))
      }
      for (const socket of stalled) {
        const text = Buffer.concat(await socket.toArray())
        assert(text.subarray(text.indexOf('\r\n\r\n') + 4).equals(contents[LARGE]))
      }
    })
  }

  function openFiles (start) {
    return fs.readdirSync('/proc/self/fd').filter(fd => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(start)
      } catch {
        return false // it was closed meanwhile
      }
    }).length
  }

  /** The list's last buffer, emptied, is the next one that a read gets. */
  function last () {
    const buffer = lend(128 * KB).fill(0)
    takeBack(buffer)
    return buffer
  }

  it('should be used again for a file of 64 KiB and more, and for no other', async () => {
    const buffer = last()
    for (const number of [1, 2]) assert((await get(number)).equals(contents[number]))
    assert(buffer.equals(Buffer.alloc(128 * KB)))
    for (const number of [3, 4, 5, 5]) {
      assert((await get(number)).equals(contents[number]))
      const read = contents[number].subarray(0, 128 * KB)
      assert(buffer.subarray(0, read.length).equals(read))
    }
    const again = lend(64 * KB)
    assert.equal(again.buffer, buffer.buffer)
    takeBack(again)
  })

  /** An own method that looks at chunks; `name` as emit has it, too. */
  const patch = (object, method, keep, original = object[method]) => {
    object[method] = function (...args) {
      args.filter(Buffer.isBuffer).forEach(keep)
      return original.apply(this, args)
    }
  }
  const { write } = http.ServerResponse.prototype
  const whileSent = keep => (...args) => { setImmediate(keep, ...args) }
  const KEEPERS = {
    "on('data') before the response": (ctx, stream, keep) => { stream.on('data', keep) },
    "on('data') while it is sent": whileSent((ctx, stream, keep) => stream.on('data', keep)),
    "prependOnceListener('data') while it is sent": whileSent((ctx, stream, keep) => stream.prependOnceListener('data', keep)),
    "on('readable') while it is sent": whileSent((ctx, stream, keep) => {
      stream.on('readable', () => { for (let chunk; (chunk = stream.read()) !== null;) keep(chunk) })
    }),
    'a second pipe': (ctx, stream, keep) => { stream.pipe(new PassThrough()).on('data', keep) },
    'a second pipe while it is sent': whileSent((ctx, stream, keep) => stream.pipe(new PassThrough()).on('data', keep)),
    push: (ctx, stream, keep) => patch(stream, 'push', keep),
    'push while it is sent': whileSent((ctx, stream, keep) => patch(stream, 'push', keep)),
    'emit while it is sent': whileSent((ctx, stream, keep) => patch(stream, 'emit', keep)),
    'read() while it is sent': whileSent(async (ctx, stream, keep) => {
      stream.pause()
      await until(() => stream.readableLength > 0)
      keep(stream.read())
      stream.resume()
    }),
    'ctx.res.write': (ctx, stream, keep) => patch(ctx.res, 'write', keep),
    'ctx.res.write while it is sent': whileSent((ctx, stream, keep) => patch(ctx.res, 'write', keep, write)),
    'ctx.res.write of the pipe while it is sent': ({ res }, stream, keep) => setImmediate(patch, res, 'write', keep),
    "'pipe' of ctx.res": ({ res }, stream, keep) => { res.once('pipe', () => stream.on('data', keep)) },
    'ctx.socket.write': (ctx, stream, keep) => patch(ctx.socket, 'write', keep),
    'ctx.socket.write while it is sent': whileSent((ctx, stream, keep) => patch(ctx.socket, 'write', keep)),
    'a stream of the app between': (ctx, stream, keep) => {
      const { length } = ctx
      ctx.body = stream.pipe(new PassThrough().on('data', keep))
      ctx.length = length
    }
  }

  for (const [query, whose] of [['', 'the app'], ['?own', 'middleware/static']]) {
    for (const [name, use] of Object.entries(KEEPERS)) {
      it(`should stay with code that keeps them: a stream of ${whose}, ${name}`, async () => {
        const kept = []
        onStream = (ctx, stream) => use(ctx, stream, chunk => kept.push([chunk, Buffer.from(chunk)]))
        try {
          assert((await get(`7${query}`)).equals(contents[7]))
        } finally {
          onStream = () => {}
        }
        for (const number of [3, 6]) { // the next reads get the buffers that came back last
          for (const body of await Promise.all(Array.from({ length: 4 }, () => get(`${number}${query}`)))) assert(body.equals(contents[number]))
        }
        assert(kept.length > 0)
        for (const [chunk, copy] of kept) assert(chunk.equals(copy))
      })
    }

    it(`should not be used again where a connection is a stream of other code: a stream of ${whose}`, async () => {
      const [near, far] = [new End(), new End()]
      near.connect(far)
      sites.tcp.emit('connection', far)
      near.write(`GET /6${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      const chunks = []
      near.on('data', chunk => chunks.push(chunk))
      await once(near, 'end')
      const text = Buffer.concat(chunks)
      assert(text.subarray(text.indexOf('\r\n\r\n') + 4).equals(contents[6]))
    })

    it(`should be sent as text where the stream has an encoding: a stream of ${whose}`, async () => {
      onStream = (ctx, stream) => { stream.setEncoding('latin1') }
      try {
        const body = await get(`text${query}`)
        assert.equal(body.toString('latin1'), TEXT)
      } finally {
        onStream = () => {}
      }
    })
  }

  for (const patched of ['http.ServerResponse', 'http.OutgoingMessage', 'net.Socket']) {
    it(`should stay with a write of ${patched} that was there before kone`, () => {
      const script = `
        const http = require('node:http'), net = require('node:net')
        const { prototype } = ${patched}
        const original = prototype.write
        const kept = []
        prototype.write = function (chunk, ...rest) {
          if (chunk?.length >= 16384) kept.push([chunk, Buffer.from(chunk)])
          return original.call(this, chunk, ...rest)
        }
        const Kone = require('kone')
        const app = new Kone().use(require('kone/middleware').static(${JSON.stringify(root)}, { cacheSize: 0 }))
        const server = app.listen(0, '127.0.0.1', async () => {
          const { port } = server.address()
          const get = number => fetch('http://127.0.0.1:' + port + '/' + number).then(res => res.arrayBuffer())
          const bodies = await Promise.all([7, 7, 6].map(get))
          const isKept = kept.every(([chunk, copy]) => chunk.equals(copy))
          console.log(JSON.stringify([bodies.map(({ byteLength }) => byteLength), kept.length > 0, isKept]))
          process.exit()
        })`
      const text = execFileSync(process.execPath, ['-e', script], { cwd: __dirname })
      assert.deepEqual(JSON.parse(text), [[SIZES[7], SIZES[7], SIZES[6]], true, true])
    })
  }

  const SENT = [
    ['of one tick, by the front', [1], () => {}], ['of one tick, by ctx.res', [1], ctx => ctx.res],
    ['of several, by the front', [1, 3, 6], () => {}], ['of several, by ctx.res', [1, 3, 6], ctx => ctx.res]
  ]
  for (const [name, numbers, touch] of SENT) {
    it(`should all come back once they were flushed: chunks ${name}`, async () => {
      const chunks = numbers.map(number => contents[number])
      const back = []
      onStream = ctx => {
        touch(ctx)
        const stream = new Readable({ read () {} })
        for (const chunk of [...chunks, null]) stream.push(chunk)
        ctx.body = Object.assign(stream, { [kReuse]: chunk => back.push(chunk) })
        ctx.length = Buffer.concat(chunks).length
      }
      try {
        assert((await get('0')).equals(Buffer.concat(chunks)))
      } finally {
        onStream = () => {}
      }
      await until(() => back.length === chunks.length)
      assert(back.every((chunk, i) => chunk === chunks[i]))
    })
  }

  const READ = {
    'of 64 KiB': [3, true],
    'of less than 64 KiB': [2, false],
    'in larger pieces': [7, false, { highWaterMark: 256 * KB }],
    'whose file stays open': [6, false, { autoClose: false }],
    'with functions of its own': [6, false, { fs: { ...fs } }]
  }

  for (const [name, [number, isChanged, options]] of Object.entries(READ)) {
    it(`should ${isChanged ? 'change' : 'leave'} a stream ${name}`, async () => {
      let body
      onStream = ctx => {
        const { length } = ctx
        body = ctx.body = fs.createReadStream(fileOf(number), options)
        ctx.length = length
      }
      try {
        assert((await get(number)).equals(contents[number]))
      } finally {
        onStream = () => {}
      }
      assert.equal(Object.hasOwn(body, '_read'), isChanged)
    })
  }

  it('should come back, and the file be closed, after the read that was under way when the client left', {
    skip: process.platform !== 'linux' && 'it looks into /proc'
  }, async () => {
    const fifo = path.join(root, 'fifo') // a read of it waits for a writer
    execFileSync('mkfifo', [fifo])
    const writer = fs.openSync(fifo, 'r+')
    const memory = last().buffer
    let body
    onStream = ctx => {
      body = ctx.body = fs.createReadStream(fifo)
      ctx.length = 256 * KB
    }
    try {
      const socket = net.connect(sites.tcp.address().port, '127.0.0.1')
      socket.write('GET /3 HTTP/1.1\r\nHost: a\r\n\r\n')
      await until(() => openFiles(fifo) === 2)
      await new Promise(resolve => setTimeout(resolve, 20))
      const closed = once(body, 'close')
      socket.destroy()
      await until(() => body.destroyed)
      await new Promise(resolve => setTimeout(resolve, 20))
      assert.equal(openFiles(fifo), 2)
      fs.writeSync(writer, 'late')
      await closed
      assert.equal(openFiles(fifo), 1)
    } finally {
      onStream = () => {}
      fs.closeSync(writer)
    }
    const again = lend(64 * KB)
    takeBack(again)
    assert.equal(again.buffer, memory)
  })

  const FAILURES = {
    'a folder': stream => { stream.path = root },
    'a file that gets shorter': (stream, name) => fs.truncateSync(name, 20 * KB),
    'a file that gets longer': (stream, name) => fs.appendFileSync(name, 'more'),
    'a file that does not exist': (stream, name) => fs.unlinkSync(name)
  }

  for (const [name, spoil] of Object.entries(FAILURES)) {
    it(`should do the same as on node:http: ${name}`, async t => {
      const file = path.join(root, 'spoilt')
      const seen = []
      for (const http1 of [false, true]) {
        fs.writeFileSync(file, contents[6])
        const app = new Kone({ http1, silent: true }).use(ctx => {
          ctx.length = SIZES[6]
          ctx.body = fs.createReadStream(file)
          spoil(ctx.body, file)
        })
        const errors = []
        app.on('error', err => errors.push(err.code ?? err.message))
        const server = app.listen(0, '127.0.0.1')
        t.after(() => server.close())
        await once(server, 'listening')
        const socket = net.connect(server.address().port, '127.0.0.1')
        socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        const text = Buffer.concat(await socket.toArray()).toString('latin1').replace(/Date: .*/, 'Date')
        seen.push([text, errors])
      }
      assert.deepEqual(seen[1], seen[0])
    })
  }
})

describe('lend()', () => {
  it('should give arbitrary bytes of the length, and the same memory again', () => {
    const one = lend(64 * KB)
    const two = lend(20 * KB)
    assert.deepEqual([one.length, two.length], [64 * KB, 20 * KB])
    assert.notEqual(one.buffer, two.buffer)
    takeBack(one)
    assert.equal(lend(128 * KB).buffer, one.buffer)
  })

  it('should take back only what it has lent, and that once', () => {
    const one = lend(64 * KB)
    const foreign = Buffer.allocUnsafeSlow(128 * KB)
    takeBack(one)
    takeBack(one)
    takeBack(foreign)
    takeBack('text')
    const next = [lend(64 * KB), lend(64 * KB)]
    assert.equal(next[0].buffer, one.buffer)
    assert(![one.buffer, foreign.buffer].includes(next[1].buffer))
  })

  it('should take back no part, because other code may have the rest', () => {
    const one = lend(64 * KB)
    takeBack(one.subarray(0, 10))
    takeBack(one.subarray(10))
    assert.notEqual(lend(64 * KB).buffer, one.buffer)
    takeBack(one)
    assert.equal(lend(64 * KB).buffer, one.buffer)
  })

  it('should keep at most 32 of them', () => {
    const all = Array.from({ length: 40 }, () => lend(16 * KB))
    all.forEach(takeBack)
    const again = Array.from({ length: 40 }, () => lend(16 * KB))
    const memories = new Set(all.map(({ buffer }) => buffer))
    assert.equal(again.filter(({ buffer }) => memories.has(buffer)).length, 32)
  })

  it('should give little from a buffer of its own', () => {
    const little = lend(16 * KB - 1)
    takeBack(little)
    assert.equal(little.buffer.byteLength, 16 * KB - 1)
    assert.notEqual(lend(16 * KB).buffer, little.buffer)
  })
})
