'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { PassThrough, Readable, Writable } = require('node:stream')
const { buffer } = require('node:stream/consumers')
const { it } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const v8 = require('node:v8')
const vm = require('node:vm')
const compose = require('koa-compose')
const compress = require('kone/middleware/compress')
const jsonp = require('kone/middleware/jsonp')
const serve = require('kone/middleware/static')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const request = require('../helpers/request')
const until = require('../helpers/until')

const root = path.join(folder({ 'secret.txt': 'secret', 'public/a.txt': 'hello a' }), 'public')

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc')
const MEASURED = 8 * 2 ** 20 // bytes between two measurements of what is alive

const BIG = Buffer.alloc(200000, 'big file ')

// each 8 bytes hold their place, so that nothing can be at another's
const NUMBERED = path.join(root, 'numbered.bin')
const numbered = Buffer.from(BigUint64Array.from({ length: 3 * 2 ** 17 }, (_, i) => BigInt(i)).buffer)
fs.writeFileSync(NUMBERED, numbered)

const noProc = !fs.existsSync('/proc/self/fd') && 'no /proc'
const descriptorsOf = file => fs.readdirSync('/proc/self/fd').filter(fd => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`) === file
  } catch {
    return false
  }
}).length

frameworks('static and the disk', ({ it, Koa, ask, listen, errors, name }) => {
  const start = options => new Koa().use(serve(root, options)).use(ctx => {
    ctx.status = 404
    ctx.body = 'next'
  })

  // what decides here knows no framework, so two will do
  const skip = !['koa 2', 'kone'].includes(name) && 'tried in koa 2 and kone'
  it('should send what is on disk within a second', { skip }, async () => {
    await Promise.all([{}, { dev: true }, { cacheSize: 0 }].map(async (options, i) => {
      const target = `/changing-${i}.txt`
      const file = path.join(root, target)
      const app = start(options)
      const becomes = async text => {
        const deadline = Date.now() + 1000
        let seen
        for (;;) {
          const asked = Date.now()
          seen = (await ask(app, `GET ${target}`)).text
          if (seen === text) return
          assert(asked < deadline, `${JSON.stringify(options)} ${text}, not ${seen}`)
          await sleep(20)
        }
      }
      await becomes('next')
      fs.writeFileSync(file, 'one')
      await becomes('one')
      fs.writeFileSync(file, 'two') // as long, and in the same tick of a coarse clock
      await becomes('two')
      fs.utimesSync(file, 1, 1)
      fs.writeFileSync(`${file}.new`, 'tre')
      fs.utimesSync(`${file}.new`, 1, 1)
      fs.renameSync(`${file}.new`, file)
      await becomes('tre')
      fs.rmSync(file)
      fs.symlinkSync('../secret.txt', file)
      await becomes('next')
      fs.rmSync(file)
      fs.symlinkSync('a.txt', file)
      await becomes('hello a')
      fs.rmSync(file)
      await becomes('next')
      fs.writeFileSync(file, BIG)
      await becomes(BIG.toString())
      fs.writeFileSync(file, 'small')
      await becomes('small')
      fs.rmSync(file)
      fs.mkdirSync(file)
      await becomes('next')
      fs.rmdirSync(file)
    }))
  })

  it('should keep no descriptor of a response that nobody waited for', { skip: noProc }, async () => {
    const file = sparse('huge.bin', 20 * 2 ** 20)
    const { port } = await listen(start())
    const descriptors = () => descriptorsOf(file)
    // three thousand, a hundred at a time; in Koa, whose responses are the same, fewer
    for (let round = 0; round < (name === 'kone' ? 30 : 2); round++) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => new Promise(resolve => {
        const socket = net.connect(port, '127.0.0.1')
        socket.write('GET /huge.bin HTTP/1.1\r\nHost: a\r\n\r\n')
        socket.on('error', () => {}).on('close', resolve)
        // before the response, after its headers, in the middle of it
        if (i % 3 === 0) setImmediate(() => socket.destroy())
        else if (i % 3 === 1) socket.once('data', () => socket.destroy())
        else socket.once('data', () => socket.once('data', () => socket.resetAndDestroy()))
      })))
    }
    await until(() => descriptors() === 0)
    assert.equal(descriptors(), 0)
    assert.equal((await ask(start(), 'HEAD /huge.bin')).headers['content-length'], String(20 * 2 ** 20))
    await until(() => descriptors() === 0) // for its ETag it is read in the background
  })

  it('should keep no descriptor of a file whose setHeaders throws', { skip: noProc }, async () => {
    const file = sparse('guarded.bin', 2 ** 20)
    const fail = () => { throw new Error('no headers') }
    for (const setHeaders of [fail, async () => { await null; fail() }]) {
      const app = start({ setHeaders })
      for (const line of ['GET', 'HEAD']) assert.equal((await ask(app, `${line} /guarded.bin`)).status, 500)
      assert.equal((await ask(app, 'GET /guarded.bin', { headers: { Range: 'bytes=1-2' } })).status, 500)
    }
    await until(() => descriptorsOf(file) === 0)
    assert.equal(descriptorsOf(file), 0)
  })

  it('should compare a request with an ETag that is a number, and keep no descriptor', { skip: noProc }, async () => {
    const file = sparse('number.bin', 2 ** 20)
    const app = start({ setHeaders: res => res.setHeader('ETag', 5) })
    const rows = [
      [{ 'If-None-Match': '"a"' }, 200], [{ 'If-None-Match': '5' }, 304], [{ 'If-Match': '"a"' }, 412],
      [{ Range: 'bytes=1-2', 'If-Range': '"a"' }, 200]
    ]
    for (const [headers, status] of rows) assert.equal((await ask(app, 'GET /number.bin', { headers })).status, status)
    await until(() => descriptorsOf(file) === 0)
    assert.equal(descriptorsOf(file), 0)
  })

  // what setHeaders does when its client is gone, and what the app reports
  for (const [what, act, expected] of [
    ['resolves', () => {}, []],
    ['rejects', () => { throw new Error('no headers') }, ['no headers']],
    ['ends the response', res => res.end(), []]
  ]) {
    it(`should keep no descriptor, and report once, when the client leaves before setHeaders ${what}`, { skip: noProc }, async t => {
      const file = sparse('awaited.bin', 2 ** 20)
      let leave
      let over = 0
      let finished = 0
      const app = start({
        async setHeaders (res) {
          leave()
          await until(() => (res.stream ?? res).destroyed)
          over++
          act(res)
        }
      }).on('finish', () => finished++)
      const { port } = await listen(app)
      const session = app.fetch && await connect(t, app) // Koa's ctx.writable knows nothing of HTTP/2's streams
      const ways = [
        (method, path, headers) => http.request({ port, method, path, headers, agent: false }),
        ...session ? [(method, path, headers) => session.request({ ':method': method, ':path': path, ...headers })] : []
      ]
      const before = errors.length
      let sent = 0
      for (const way of ways) {
        for (const request of [
          ['GET', '/awaited.bin'],
          ['HEAD', '/awaited.bin'],
          ['GET', '/awaited.bin', { range: 'bytes=1-2' }],
          ['GET', '/awaited.bin', { 'if-none-match': '*' }],
          ['GET', '/a.txt'] // in memory
        ]) {
          const client = way(...request).on('error', () => {})
          client.end()
          leave = () => client.destroy()
          sent++
          await until(() => over === sent)
        }
      }
      assert.equal((await ask(app, 'GET /none')).text, 'next')
      await until(() => descriptorsOf(file) === 0)
      assert.deepEqual(errors.slice(before).map(({ message }) => message), Array(sent).fill(expected).flat())
      if (app.fetch) assert.equal(finished, sent + 1)
    })
  }

  it('should hold a small part of a large file in memory at a time', { skip }, async () => {
    sparse('large.bin', 160 * 2 ** 20)
    const { port } = await listen(start())
    const live = () => {
      collectGarbage()
      collectGarbage() // the first one frees in the background
      return process.memoryUsage().arrayBuffers
    }
    const before = live()
    let most = 0
    let received = 0
    await new Promise((resolve, reject) => {
      http.get({ host: '127.0.0.1', port, path: '/large.bin', agent: false }, res => {
        res.on('data', chunk => {
          const measured = Math.floor(received / MEASURED)
          received += chunk.length
          if (Math.floor(received / MEASURED) > measured) most = Math.max(most, live() - before)
          res.pause()
          setImmediate(() => res.resume()) // slower than the disk
        })
        res.on('end', resolve).on('error', reject)
      }).on('error', reject)
    })
    assert.equal(received, 160 * 2 ** 20)
    assert(most < 2 * 2 ** 20, `${most} bytes`)
  })

  it('should send every byte in its place, to slow clients and from buffers that are used again', async () => {
    const { port } = await listen(start())
    const target = `/${path.basename(NUMBERED)}`
    await Promise.all([1, 2, 3].map(async i => {
      const [first, second] = await receive(port, `GET ${target}`, `GET ${target}`, i)
      assert(first.equals(numbered), `client ${i}`)
      assert(second.equals(numbered), `client ${i}, its second request`)
    }))
    const part = await ask(start(), `GET ${target}`, { headers: { range: 'bytes=70001-2000000' } })
    assert(part.body.equals(numbered.subarray(70001, 2000001)))
  })

  it('should leave the chunks alone that somebody else has seen', async () => {
    const keepers = {
      listener: (ctx, kept) => ctx.body.on('data', chunk => kept.push(chunk)),
      write: (ctx, kept) => {
        const { write } = ctx.res
        ctx.res.write = function (chunk, ...rest) {
          kept.push(chunk)
          return write.call(this, chunk, ...rest)
        }
      },
      stream: (ctx, kept) => {
        const through = new PassThrough()
        through.on('data', chunk => kept.push(chunk))
        ctx.body = ctx.body.pipe(through)
        ctx.length = numbered.length
      },
      second: (ctx, kept) => ctx.body.pipe(new Writable({
        write (chunk, encoding, done) {
          kept.push(chunk)
          setImmediate(done)
        }
      }))
    }
    for (const [by, keep] of Object.entries(keepers)) {
      const kept = []
      const res = await ask([async (ctx, next) => {
        await next()
        keep(ctx, kept)
      }, serve(root)], `GET /${path.basename(NUMBERED)}`)
      assert(res.body.equals(numbered), by)
      assert(Buffer.concat(kept).equals(numbered), `kept by a ${by}`)
    }
  })

  // what reads the file before the client does
  const READERS = {
    nothing: (ctx, next) => next(),
    compress: compress(),
    jsonp: jsonp(),
    'jsonp and compress': compose([compress(), jsonp()]),
    'a stream of the web': async (ctx, next) => {
      await next()
      ctx.body = Readable.fromWeb(Readable.toWeb(ctx.body))
    }
  }
  for (const [reader, middleware] of Object.entries(READERS)) {
    it(`should not end a response as if half of a file were all of it: read by ${reader}`, async t => {
      const cut = path.join(root, `half-${name.replace(/\W/g, '')}.json`)
      const app = new Koa().use(middleware).use(serve(root, { dev: true }))
      const { port } = await listen(app)
      const session = await connect(t, app)
      const headers = { 'accept-encoding': 'gzip' }
      const ways = {
        http1: path => once(http.get({ port, path, headers, agent: false }), 'response').then(([res]) => res),
        http2: target => session.request({ ...headers, ':path': target }),
        ...app.fetch && { fetch: async target => (await app.fetch(new Request(`http://a${target}`, { headers }))).body }
      }
      for (const [way, get] of Object.entries(ways)) {
        fs.writeFileSync(cut, numbered)
        const before = errors.length
        await assert.rejects(async () => {
          for await (const chunk of await get(`/${path.basename(cut)}?callback=cb`)) if (chunk.length > 0) fs.truncateSync(cut, 1000)
        }, way)
        const messages = errors.slice(before).map(({ message }) => message)
        if (name.startsWith('koa ')) messages.length = 1 // Koa may report the connection's end, too
        assert.deepEqual(messages, ['the file was cut while it was sent'], way)
      }
    })
  }

  it('should respond with 500 when the file was cut before the response has begun', async () => {
    fs.writeFileSync(path.join(root, 'early.bin'), numbered)
    const app = [async (ctx, next) => {
      await next()
      fs.truncateSync(path.join(root, 'early.bin'), 1000)
      ctx.body = await buffer(ctx.body)
    }, serve(root)]
    assert.equal((await ask(app, 'GET /early.bin')).status, 500)
  })
})

it('static of kone: should take less than 32 MiB for a file of 100 MB', async t => {
  sparse('hundred.bin', 100e6)
  const child = fork(path.join(__dirname, 'fixtures/static-memory.js'), [root], { execArgv: [] })
  t.after(() => child.kill())
  const [{ port }] = await once(child, 'message')
  const memory = async () => {
    child.send('memory')
    return (await once(child, 'message'))[0]
  }
  for (let i = 0; i < 20; i++) await request(port, 'GET /a.txt')
  const { rss } = await memory()
  assert.equal((await request(port, 'GET /hundred.bin')).body.length, 100e6)
  const { most } = await memory()
  assert(most - rss < 32 * 2 ** 20, `${((most - rss) / 2 ** 20).toFixed(1)} MiB`)
})

/** A file of zeros, which takes no place on the disk. */
function sparse (name, size) {
  const file = path.join(root, name)
  fs.writeFileSync(file, '')
  fs.truncateSync(file, size)
  return file
}

/** A client over HTTP/2 until the test is over. */
async function connect (t, app) {
  const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => session.destroy())
  return session
}

/** The bodies of requests that are sent at once, read with pauses of `pace` turns of the event loop. */
async function receive (port, ...args) {
  const pace = args.pop()
  const socket = net.connect(port, '127.0.0.1')
  socket.write(args.map(line => `${line} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
  const bodies = []
  let bytes = Buffer.alloc(0)
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk])
    const start = bytes.indexOf('\r\n\r\n') + 4
    const length = Number(/content-length: (\d+)/i.exec(bytes.latin1Slice(0, start))?.[1])
    if (start > 3 && bytes.length >= start + length) {
      bodies.push(bytes.subarray(start, start + length))
      bytes = bytes.subarray(start + length)
      if (bodies.length === args.length) break
    }
    for (let i = 0; i < pace; i++) await new Promise(setImmediate)
  }
  return bodies
}
