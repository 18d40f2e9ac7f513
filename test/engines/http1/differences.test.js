'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { AsyncLocalStorage, createHook } = require('node:async_hooks')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const { PerformanceObserver } = require('node:perf_hooks')
const { PassThrough, Readable } = require('node:stream')
const tls = require('node:tls')
const onFinished = require('on-finished')

const Koa = require('koa')
const Kone = require('../../helpers/kone')
const { Clock } = require('../../../lib/front/timeouts')
const { rows } = require('./readme')
const { MAJOR, chunked, credentials, get, last, post, setUp, settled, talk, unsupported, waitFor } = require('./sides')

/** Does node keep the chunks of a tick until its end? */
const MERGES = MAJOR >= 26 || (MAJOR === 24 && Number(process.versions.node.split('.')[1]) >= 22)

/*
 * The known differences of lib/front/README.md. Each row is a test that shows what the front does, and what node:http (or
 * koa) does: a difference that is gone fails here, and so does one that the table does not know.
 */

const open = []
after(() => {
  for (const server of open) {
    server.closeAllConnections()
    server.close()
  }
})

/** A client's connection to an app of one middleware, on the front or on node:http. */
async function connect (fn, { Framework = Kone, isNode = false } = {}) {
  const app = new Framework()
  app.silent = true
  app.use(fn)
  const server = http.createServer()
  open.push(server)
  if (Framework === Kone) setUp(server, app, !isNode)
  else server.on('request', app.callback())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return talk(server.address().port)
}

/** Koa, the front, and kone on node:http. */
const SIDES = [{ Framework: Koa }, {}, { isNode: true }]

/** What `visit(connect)` gives on the front and with node:http. */
async function both (visit) {
  return { front: await visit(connect), node: await visit(fn => connect(fn, { isNode: true })) }
}

/** The same of a handler: `see(ctx)` notes what is different of one request. */
const seen = handler => both(async connect => {
  let found
  const client = await connect(ctx => handler(ctx, what => { found = what }))
  client.write(last('/'))
  await client.all()
  return found
})

const DIFFERENCES = {
  async 'junk behind good requests in one read' () {
    for (const [count, bytes] of [[2, `${get('/')}${get('/')}JUNK\r\n\r\n`], [1, chunked('1\r\nx\r\njunk')]]) {
      const { front, node } = await both(async connect => {
        let begun = 0
        const client = await connect(ctx => {
          begun++
          ctx.body = 'good'
        })
        client.write(bytes)
        return { text: await client.all(), called: begun }
      })
      assert.match(front.text, /^HTTP\/1\.1 400 [^]*Connection: close\r\n\r\n$/)
      assert.match(node.text, count === 2 ? /HTTP\/1\.1 400 [^]*Connection: close\r\n\r\n$/ : /^HTTP\/1\.1 200 [^]*goodHTTP\/1\.1 400 [^]*close\r\n\r\n$/)
      assert.equal(front.text.includes('good'), false)
      assert.deepEqual([front.called, node.called], [count, count])
    }

    const chunks = await both(async connect => {
      const client = await connect(ctx => new Promise(resolve => {
        ctx.respond = false
        ctx.req.on('data', () => ctx.res.write('good')).on('close', resolve).on('error', () => {})
        ctx.res.on('error', () => {})
        client.begun = true
      }))
      client.write(chunked(''))
      await waitFor(() => client.begun, 'the request')
      client.write('1\r\nx\r\njunk')
      return client.all()
    })
    assert.equal(chunks.front.includes('good'), false)
    assert.match(chunks.node, /\r\n4\r\ngood\r\n$/)
  },

  async 'a bad header section in pieces' () {
    for (const [bytes, end] of [
      ['GET / HTTP/1.1\r\nHost: a\r\nBad Name', ': b\r\n'],
      ['GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n', '\r\n'],
      ['GETT', '']
    ]) {
      const { front, node } = await both(async connect => {
        const client = await connect(ctx => { ctx.body = 'x' })
        client.write(bytes)
        await settled(() => client.text.length)
        const before = client.text.slice(0, 12)
        client.write(end)
        assert.match(await client.all(), /^HTTP\/1\.1 400 [^]*Connection: close\r\n\r\n$/)
        return before
      })
      assert.deepEqual({ front, node }, { front: end === '' ? 'HTTP/1.1 400' : '', node: 'HTTP/1.1 400' })
    }
  },

  async 'an unsupported request behind an open response' () {
    const { front, node } = await both(async connect => {
      const begun = []
      let release
      const client = await connect(async ctx => {
        begun.push(ctx.path)
        if (ctx.path === '/first') await new Promise(resolve => { release = resolve })
        ctx.body = ctx.path
      })
      client.write(get('/first'))
      await waitFor(() => release, 'the first request')
      client.write(unsupported('0\r\n\r\n', '/second'))
      await settled(() => begun.length)
      const before = [...begun]
      release()
      await client.until(/\/first[^]*\/second$/)
      return before
    })
    assert.deepEqual({ front, node }, { front: ['/first'], node: ['/first', '/second'] })

    for (const [bytes, refusal] of [
      ['junk\r\n\r\n', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'],
      ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', '']
    ]) {
      const texts = await both(async connect => {
        let release
        const client = await connect(async ctx => {
          await new Promise(resolve => { release = resolve })
          ctx.body = 'whole'
        })
        client.write(get('/'))
        await waitFor(() => release, 'the request')
        client.write(bytes)
        await settled(() => client.text.length)
        const before = client.text
        release()
        return [before, await client.all()]
      })
      assert.deepEqual(texts.node, [refusal, refusal])
      assert.equal(texts.front[0], '')
      assert(texts.front[1].endsWith(`\r\n\r\nwhole${refusal}`), texts.front[1])
    }
  },

  async "a listener for 'data' that a handler adds to its socket" () {
    const { front, node } = await both(async connect => {
      const seen = []
      let release
      const client = await connect(async ctx => {
        ctx.body = ctx.path
        if (ctx.path !== '/first') return
        ctx.socket.on('data', chunk => seen.push(`${chunk}`.split(' ')[1]))
        await new Promise(resolve => { release = resolve })
      })
      client.write(get('/first'))
      await waitFor(() => release, 'the request')
      client.write(get('/second'))
      await settled(() => seen.length)
      release()
      await client.until(/second$/)
      await client.ask(get('/third'), /third$/)
      return seen
    })
    assert.deepEqual({ front, node }, { front: ['/third'], node: ['/second', '/third'] })
  },

  async 'a request behind the last response' () {
    const seen = await Promise.all([get('/first'), post('a', '', 2, '/first')].map(first => both(async connect => {
      const begun = []
      const client = await connect(ctx => {
        begun.push(ctx.path)
        if (ctx.method === 'POST') ctx.req.on('data', bytes => begun.push(`${bytes}`))
        if (ctx.path === '/first') ctx.set('Connection', 'close')
        ctx.body = Buffer.alloc(48 * 1024 * 1024) // no kernel takes it at once
      })
      client.socket.pause()
      client.write(first)
      await settled(() => begun.length)
      client.write(first.startsWith('POST') ? 'b' : get('/second'))
      await settled(() => begun.length)
      client.destroy()
      return begun
    })))
    assert.deepEqual(seen, [
      { front: ['/first'], node: ['/first', '/second'] },
      { front: ['/first', 'a'], node: ['/first', 'a', 'b'] }
    ])
  },

  async 'a FIN behind a pipelined request, over TLS' () {
    const LARGE = 'x'.repeat(100 * 1024) // more than the high-water mark
    const texts = []
    for (const isFront of [true, false]) {
      const app = new Kone()
      app.silent = true
      let end
      app.use(ctx => {
        if (ctx.path === '/next') return (ctx.body = LARGE)
        ctx.respond = false
        ctx.res.on('error', () => {}).write(LARGE)
        end = () => ctx.res.end('first')
      })
      const server = setUp(https.createServer(await credentials()), app, isFront)
      open.push(server)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const client = tls.connect({ port: server.address().port, rejectUnauthorized: false, allowHalfOpen: true })
      let text = ''
      client.setEncoding('latin1').on('data', more => { text += more }).on('error', () => {})
      const closed = once(client, 'close')
      client.write(post('body') + get('/next'))
      await waitFor(() => text.length > LARGE.length, 'what the first response has begun with')
      client.end()
      await settled(() => client.closed) // the server has seen the FIN, or reads no more
      end()
      await closed
      texts.push(text)
    }
    const [front, node] = texts
    assert.doesNotMatch(front, /first/)
    assert.match(node, /first\r\n0\r\n\r\nHTTP\/1\.1 200/)
  },

  async 'the chunks of a stream' () {
    const { front, node } = await both(async connect => {
      let release
      const client = await connect(async ctx => {
        if (ctx.path === '/first') await new Promise(resolve => { release = resolve })
        ctx.body = ctx.path === '/first' ? 'first' : Readable.from(['one ', 'two ', 'three'])
      })
      client.write(get('/first') + get('/stream'))
      await waitFor(() => release, 'the first request')
      await settled(() => client.text.length)
      release()
      await client.until(/\r\n0\r\n\r\n$/)
      const [, chunks] = client.text.split('Transfer-Encoding: chunked\r\n\r\n')
      return chunks.split('\r\n').filter((line, i) => i % 2 === 1 && line !== '') // between the sizes
    })
    assert.equal(front.join(''), 'one two three')
    assert.equal(node.join(''), front.join(''))
    if (!MERGES) assert.deepEqual(node, front)
    else assert(node.length <= front.length)
  },

  async 'the parts of a body in one read' () {
    const found = bytes => both(async connect => {
      const client = await connect(async ctx => {
        let size = 0
        ctx.req.on('data', chunk => { size += chunk.length })
        await once(ctx.req, 'data')
        ctx.body = `${size} ${ctx.req.readableEnded}`
      })
      client.write(bytes)
      await client.until(/(true|false)$/)
      return client.text.split('\r\n\r\n')[1]
    })
    assert.deepEqual(await found(chunked('2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n')), { front: '5 false', node: '2 false' })
    assert.deepEqual(await found('POST / HTTP/0.9\r\nContent-Length: 5\r\n\r\nhello'), { front: '5 true', node: '5 false' })
  },

  async 'what ctx.socket.write() writes behind ctx.res.write()' () {
    const { front, node } = await both(async connect => {
      const client = await connect(ctx => {
        ctx.respond = false
        ctx.res.write('written')
        ctx.socket.write('raw')
        ctx.res.end()
      })
      client.write(last('/'))
      return client.all()
    })
    assert.match(front, /^rawHTTP\/1\.1 404 [^]*\r\nwritten\r\n0\r\n\r\n$/)
    if (!MERGES) assert.match(node, /^HTTP\/1\.1 404 [^]*\r\nwritten\r\nraw0\r\n\r\n$/)
    else assert.match(node, /^rawHTTP/)
  },

  async 'an informational response after the end' () {
    for (const body of ['ended', Buffer.alloc(8 * 1024 * 1024)]) { // flushed at once, or not
      for (const begin of [() => {}, res => res.write('begun')]) {
        const { front, node } = await both(async connect => {
          let code = 'none'
          const client = await connect(ctx => {
            ctx.respond = false
            begin(ctx.res)
            ctx.res.end(body)
            try {
              ctx.res.writeProcessing(err => { code = err === undefined || err === null ? 'written' : err.code })
            } catch (err) {
              code = err.code
            }
          })
          client.write(last('/'))
          return { isWritten: (await client.all()).includes('HTTP/1.1 102'), code }
        })
        const [ours, nodes] = MAJOR < 24 ? ['ERR_STREAM_DESTROYED', 'written'] : Array(2).fill('ERR_HTTP_HEADERS_SENT')
        assert.deepEqual(front, { code: ours, isWritten: false })
        assert.deepEqual(node, { code: nodes, isWritten: MAJOR < 24 })
      }
    }
  },

  async 'ctx.res first read after the end' () {
    assert.deepEqual(await seen((ctx, note) => {
      ctx.body = 'ended'
      const look = async () => {
        while (ctx.writable) await null
        note(ctx.res.socket !== null)
      }
      look()
    }), { front: false, node: true })
  },

  async 'ctx.res first read while a stream is sent' () {
    assert.deepEqual(await seen((ctx, note) => {
      const stream = ctx.body = new PassThrough()
      stream.once('resume', () => setImmediate(() => {
        let events = 0
        ctx.res.on('unpipe', () => events++)
        stream.unpipe(ctx.res)
        note([stream.listenerCount('data') > 0, events])
        ctx.res.end()
      }))
    }), { front: [true, 0], node: [false, 1] })
  },

  async 'many pipelined requests' () {
    const { front, node } = await both(async connect => {
      let begun = 0
      const client = await connect(() => {
        begun++
        return new Promise(() => {})
      })
      const one = get('/', `X-Long: ${'x'.repeat(1000)}\r\n`) // a single read has some sixty of these at most
      for (let i = 0; i < 40; i++) client.write(one.repeat(10))
      await settled(() => begun)
      client.destroy()
      return begun
    })
    assert.equal(node, 400)
    assert(front >= 256 && front < 400, `${front}`)
  },

  async "perf_hooks entries of type 'http'" () {
    const { front, node } = await both(async connect => {
      const urls = []
      const observer = new PerformanceObserver(list => urls.push(...list.getEntries().map(({ detail }) => detail.req.url)))
      observer.observe({ entryTypes: ['http'] })
      const client = await connect(ctx => { ctx.body = `${ctx.path} ${ctx.path === '/read' && ctx.res.req.url}` })
      for (const path of ['/read', '/plain']) await client.ask(get(path), /(?:\/read|false)$/)
      await settled(() => urls.length)
      observer.disconnect()
      return urls
    })
    assert.deepEqual({ front, node }, { front: ['/read'], node: ['/read', '/plain'] })
  },

  async 'async ids' () {
    const { front, node } = await both(async connect => {
      const storage = new AsyncLocalStorage()
      let resources = 0
      const hook = createHook({ init (id, type) { if (type === 'HTTPINCOMINGMESSAGE') resources++ } }).enable()
      const stores = []
      const client = await connect(ctx => {
        stores.push(storage.getStore())
        storage.enterWith(ctx.path)
        ctx.body = 'x'
      })
      for (const path of ['/first', '/second']) await client.ask(get(path), /x$/)
      hook.disable()
      return { resources, stores }
    })
    assert.deepEqual(front, { resources: 0, stores: [undefined, undefined] })
    assert.deepEqual(node.stores, [undefined, MAJOR < 24 ? '/first' : undefined])
    assert(node.resources > 0)
  },

  async 'ctx.req and ctx.res as own properties' () {
    assert.deepEqual(await seen((ctx, note) => {
      const copy = { ...ctx }
      delete ctx.req
      note([copy.req !== undefined, copy.res !== undefined, ctx.req === undefined])
      ctx.body = 'x'
    }), { front: [false, false, false], node: [true, true, true] })
  },

  async 'ctx.res.req as a value' () {
    assert.deepEqual(await seen((ctx, note) => {
      note([Object.keys(Object.getOwnPropertyDescriptor(ctx.res, 'req'))[0], ctx.res.req === ctx.req])
      ctx.body = 'x'
    }), { front: ['get', true], node: ['value', true] })
    const { front, node } = await seen((ctx, note) => {
      note([ctx.req, ctx.res.req].map(req => Object.getOwnPropertyDescriptor(ctx.res, 'req').value === req))
      ctx.body = 'x'
    })
    assert.deepEqual([front, node], [[true, true], [true, true]])
  },

  async 'how much ctx.res.write() takes in one tick' () {
    assert.deepEqual(await seen((ctx, note) => {
      ctx.respond = false
      note([20, 60].map(size => ctx.res.write('x'.repeat(size * 1024))))
      ctx.res.end()
    }), { front: [true, false], node: [MAJOR >= 22, false] })
  },

  'when 408 and idle timeouts come' () {
    const period = server => {
      const clock = new Clock(server, new Set())
      clock.start()
      clearTimeout(clock.timer)
      return clock.period
    }
    assert.equal(period({ keepAliveTimeout: 1 }), 20)
    assert.equal(period({ keepAliveTimeout: 5000, connectionsCheckingInterval: 30000 }), 500)
    assert.equal(period({ keepAliveTimeout: 400 }), 100)
    assert.equal(period({}), 500)
  },

  async 'a file of a declared length' () {
    assert(fs.statSync(process.execPath).size > 200000)
    const bytesRead = async options => {
      let file
      const client = await connect(ctx => {
        ctx.body = file = fs.createReadStream(process.execPath, { end: 199999 })
        ctx.length = 150000
      }, options)
      client.write(get('/'))
      await waitFor(() => file?.closed, 'the end of the file')
      client.end()
      return file.bytesRead
    }
    assert.deepEqual(await Promise.all(SIDES.map(bytesRead)), [200000, 150000, 150000])
  },

  async "the order of on-finished's listeners" () {
    const logs = await Promise.all(SIDES.map(async options => {
      const log = []
      const client = await connect(ctx => {
        ctx.res.on('finish', () => log.push('finish'))
        onFinished(ctx.res, () => log.push('on-finished'))
        ctx.body = 'x'
      }, options)
      client.write(get('/'))
      await waitFor(() => log.length === 2, () => log.join(' '))
      return log[0]
    }))
    assert.deepEqual(logs, ['on-finished', 'finish', 'finish'])
  }
}

describe('the known differences of lib/front/README.md', () => {
  const table = rows('Known differences', 'Difference')

  it('should have a row for everything that is known here', () => {
    assert.deepEqual(table.map(([name]) => name), Object.keys(DIFFERENCES))
  })

  for (const [name, front, node] of table) {
    it(`should be there: ${name}`, { timeout: 60000 }, async () => {
      assert(front.length > 0 && node.length > 0)
      await DIFFERENCES[name]()
    })
  }
})
