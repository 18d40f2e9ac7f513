'use strict'

const assert = require('node:assert/strict')
const { describe, it: test } = require('node:test')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { PassThrough, Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const joinChunks = require('../../helpers/join-chunks')
const Kone = require('../../helpers/kone')
const { get, last, setUp, settled, sides, talk, waitFor } = require('./sides')
const { download, wire } = require('./wire')

const plain = text => joinChunks(text.replace(/\r\nDate: [^\r]+/g, ''))

const HEADER = 'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n'
const CHUNKED = `${HEADER}Transfer-Encoding: chunked\r\n\r\n`
const END = '0\r\n\r\n'

const respond = body => app => app.use(ctx => { ctx.body = body(ctx) })

/** A stream whose chunks a test sends: each is written before the next one. */
function steps (...all) {
  return Readable.from((async function * () {
    for (const one of all) {
      if (typeof one !== 'function') yield one
      else await one()
      await turn()
      await turn()
    }
  })())
}

/** Whether a stream waits for 'drain' of one that it is piped into. */
const awaits = ({ _readableState: { awaitDrainWriters: writers } }) => writers !== null && writers.size !== 0

wire('a stream as the body', ({ it, serve }) => {
  it('should have halves of a character as node sends them', async () => {
    for (const length of [undefined, 6]) {
      const { all } = await serve(respond(ctx => {
        if (length !== undefined) ctx.length = length
        return Readable.from(['\ud83d', '\ude00'])
      }))
      assert.equal(plain(await all(last('/'))).match(/\r\n\r\n(.{6})/)[1], Buffer.from('\ufffd\ufffd').toString('latin1'))
    }
  })

  it('should have each chunk once, and nothing for an empty one', async () => {
    for (const [length, end] of [[undefined, END], [4, '']]) {
      const { all } = await serve(respond(ctx => {
        if (length !== undefined) ctx.length = length
        return Readable.from(['a', '', Buffer.from([0, 0xff]), Buffer.alloc(0), 'b'])
      }))
      assert.equal(plain(await all(last('/'))).replace(/^[^]*?\r\n\r\n/, ''), `a\0\xffb${end}`)
    }
  })

  it('should be at the pace of the client', async () => {
    let read = 0
    const { port } = await serve(respond(() => new Readable({
      read () { this.push(read++ < 1010 ? Buffer.alloc(read > 1000 ? 1 : 64 * 1024) : null) }
    })))
    const client = await download(port, last('/'))
    await waitFor(() => read > 2, 'the first chunks')
    assert(await settled(() => read) < 256, `${read} chunks are read for a client that reads none`)
    client.resume()
    await client.end()
    assert(client.size > 1000 * 64 * 1024)
  })

  it('should be destroyed when the client leaves', async () => {
    const stream = new PassThrough()
    const { talk } = await serve(respond(() => stream))
    const client = await talk(get('/'))
    stream.write('a')
    await client.until(/a\r\n/)
    client.destroy()
    await waitFor(() => stream.destroyed, 'its end')
  })

  it('should close the connection when it fails behind its first chunk', async () => {
    const { app, all } = await serve(respond(() => steps('a', () => { throw new Error('lost') })))
    const failed = once(app, 'error')
    assert.equal(plain(await all(get('/'))), CHUNKED + 'a')
    assert.equal((await failed)[0].message, 'lost')
  })

  it('should lose what it has written in the tick in which it fails', async () => {
    const { all } = await serve(respond(() => {
      const chunks = ['a']
      return new Readable({
        read () {
          if (chunks.length > 0) this.push(chunks.pop())
          else this.destroy(new Error('lost'))
        }
      })
    }))
    assert.equal(await all(get('/')), '')
  })

  it('should notify ctx.onFinished and app.on("finish") once, when the last byte was flushed', async () => {
    const calls = []
    const { app, ask } = await serve(respond(ctx => {
      ctx.onFinished(err => calls.push(err))
      return steps('a', () => calls.push('not yet'), 'b')
    }))
    await ask(get('/'), /0\r\n\r\n$/)
    await waitFor(() => calls.length > 1, 'the call')
    assert.deepEqual(calls, ['not yet', null])
    assert(app instanceof EventEmitter)
  })

  const DETACHES = {
    'whose client left while the stream waited for it': { size: 64 * 1024, blocks: true, leave: client => client.destroy() },
    'whose client left between two chunks': { size: 1, blocks: false, leave: client => client.destroy() },
    'that the app ended': { size: 1, blocks: false, leave: (client, ctx) => ctx.res.end() },
    'that the app destroyed': { size: 1, blocks: false, leave: (client, ctx) => ctx.res.destroy() }
  }

  for (const [name, { size, blocks, leave }] of Object.entries(DETACHES)) {
    it(`should be detached from a response ${name}, and go on for the others`, async () => {
      const shared = Object.assign(new Readable({ read () {} }), { destroy () {} })
      const contexts = []
      const { app, port, talk } = await serve(respond(ctx => {
        contexts.push(ctx)
        return shared
      }))
      app.on('error', () => {})
      const first = await download(port, get('/'))
      await waitFor(() => contexts.length === 1, 'the first request')
      const second = await talk(get('/'))
      await waitFor(() => contexts.length === 2, 'the second request')

      await waitFor(() => shared._readableState.pipes.length === 2, 'both pipes')
      for (let sent = 0; sent === 0 || awaits(shared) !== blocks; sent++) {
        shared.push(Buffer.alloc(size, 'a'))
        await turn()
      }
      leave(first, contexts[0])
      await waitFor(() => shared._readableState.pipes.length === 1, 'the end of one pipe')
      shared.push('the rest')
      await second.until(/the rest/)
      second.destroy()
      await waitFor(() => shared._readableState.pipes.length === 0, 'the end of the other')
    })
  }

  it('should go on when another pipe of it ends', async () => {
    const { ask } = await serve(respond(() => {
      const stream = Readable.from(['a', 'b', 'c'])
      const other = new PassThrough().resume()
      stream.pipe(other)
      stream.once('data', () => stream.unpipe(other))
      return stream
    }))
    const { text } = await ask(get('/'), /0\r\n\r\n$/)
    assert.equal(plain(text), CHUNKED + 'bc' + END)
  })
})

sides('ctx.res, read while a stream is sent', ({ it, serve }) => {
  it('should be in node’s state', async () => {
    let failure = null
    let isFlushed = false
    const { app, talk } = await serve(respond(ctx => steps('a', () => {
      const { res } = ctx
      assert.deepEqual([res.headersSent, res.finished, res.writableEnded, res.destroyed], [true, false, false, false])
      assert.deepEqual([res.statusCode, res.statusMessage, res.chunkedEncoding, res.shouldKeepAlive], [200, 'OK', true, true])
      assert.equal(res.getHeader('content-type'), 'application/octet-stream')
      assert.equal(res.socket, res.req.socket)
      assert.throws(() => res.setHeader('X-A', 'a'), { code: 'ERR_HTTP_HEADERS_SENT' })
      assert.throws(() => res.writeHead(200), { code: 'ERR_HTTP_HEADERS_SENT' })
      res.write('686578', 'hex', () => { isFlushed = true })
      res.addTrailers({ 'X-Trailer': 't' })
      res.end('ZW5k', 'base64', () => res.end())
    }, 'b')))
    app.on('error', err => { failure = err })
    const client = await talk(get('/'))
    await client.until(/X-Trailer: t\r\n\r\n$/)
    assert.equal(failure, null)
    assert.equal(isFlushed, true)
    assert.equal(plain(client.text), `${CHUNKED}ahexend0\r\nX-Trailer: t\r\n\r\n`)
  })

  for (const [what, length, sent] of [['in chunks', undefined, 'one abctwo'], ['of a declared length', 5, 'one a']]) {
    it(`should write in its place, and not beyond the length: a body ${what}`, async () => {
      const { app, talk } = await serve(respond(ctx => {
        if (length !== undefined) ctx.length = length
        return steps('one ', () => ctx.res.write('abc'), 'two')
      }))
      app.silent = true
      const text = plain(await (await talk(last('/'))).all())
      assert.equal(text.slice(text.indexOf('\r\n\r\n') + 4).replace(END, ''), sent)
    })
  }

  it('should get each byte once when other code pipes the stream again', async () => {
    const { ask } = await serve(respond(ctx => {
      const stream = steps('a', () => stream.unpipe(ctx.res).pipe(ctx.res), 'b')
      return stream
    }))
    const { text } = await ask(get('/'), /0\r\n\r\n$/)
    assert.equal(plain(text), `${CHUNKED}ab${END}`)
  })

  for (const [when, after] of Object.entries({ 'before its first chunk': 0, 'between two chunks': 3 })) {
    it(`should go on at the pace of the client, when it is read ${when}`, async () => {
      let read = 0
      let res
      const { port } = await serve(respond(ctx => new Readable({
        read () {
          if (read === after) res = ctx.res
          this.push(read++ < 1000 ? Buffer.alloc(64 * 1024) : null)
        }
      })))
      const client = await download(port, last('/'))
      await waitFor(() => read > 3, 'the first chunks')
      assert(await settled(() => read) < 500)
      client.resume()
      await client.end()
      assert(client.size > 1000 * 64 * 1024)
      assert.equal(res.writableFinished, true)
    })
  }

  it('should be in node’s state when it is first read after the end', async () => {
    for (const chunks of [['a'], []]) {
      let state
      const { ask } = await serve(respond(ctx => {
        ctx.onFinished(() => {
          const { res } = ctx
          state = [res.headersSent, res.writableEnded, res.chunkedEncoding, res.statusMessage]
        })
        return steps(...chunks)
      }))
      await ask(get('/'), /\r\n\r\n(1\r\na\r\n0\r\n\r\n)?$/)
      await waitFor(() => state !== undefined, 'the call')
      assert.deepEqual(state, [true, true, chunks.length > 0, 'OK'])
    }
  })
})

describe('what was written before a response is cut', () => {
  const written = {
    'ctx.res': ctx => ctx.res,
    'a stream': () => {},
    'the second chunk of a stream': (ctx, stream) => stream.push('a'),
    'a stream, and ctx.res was read': ctx => ctx.res
  }

  /** Cuts `ticks` ticks after the first part. */
  const CUTS = {
    'ctx.res.destroy()': ({ res }) => res.destroy(),
    'socket.destroy()': ({ socket }) => socket.destroy(),
    'an error of the stream': (ctx, stream) => stream.destroy(new Error('broken'))
  }

  async function bytes (isFront, begin, cut, ticks, length) {
    const app = new Kone().on('error', () => {})
    app.use(async ctx => {
      const { socket } = ctx
      const stream = new Readable({ read () {} })
      begin(ctx, stream)
      if (length) ctx.length = length
      const res = begin === written['ctx.res'] && ctx.res
      const later = left => left > 0 ? process.nextTick(later, left - 1) : cut({ res, socket }, stream)
      if (res) {
        ctx.respond = false
        await turn()
        res.write('part')
        return later(ticks)
      }
      ctx.body = stream
      setImmediate(() => {
        stream.once('data', () => later(ticks))
        stream.push('part')
      })
    })
    const server = setUp(http.createServer(), app, isFront).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      return plain(await (await talk(server.address().port, get('/'))).all())
    } finally {
      server.close()
    }
  }

  for (const [what, begin] of Object.entries(written)) {
    for (const [how, cut] of Object.entries(CUTS)) {
      // Reading ctx.res late sends what a stream has written.
      if (how === (what === 'ctx.res' ? 'an error of the stream' : 'ctx.res.destroy()')) continue
      for (const length of [0, 10]) {
        test(`should be what node sends: ${what}, ${how}, ${length ? 'a declared length' : 'chunked'}`, async () => {
          const all = []
          for (const ticks of [0, 1, 2, 3, 4]) {
            const [front, node] = [await bytes(true, begin, cut, ticks, length), await bytes(false, begin, cut, ticks, length)]
            assert.equal(front, node, `${ticks} ticks`)
            all.push(node.includes('part'))
          }
          assert.deepEqual(all.slice(1), [true, true, true, true])
        })
      }
    }
  }
})
