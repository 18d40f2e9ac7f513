'use strict'

const assert = require('node:assert/strict')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const https = require('node:https')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { generate } = require('selfsigned')
const Kone = require('kone')
const compress = require('kone/middleware/compress')
const sse = require('kone/middleware/sse')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

frameworks('sse', ({ it, Koa, ask, listen }) => {
  const serve = (handler, options) => new Koa().use(sse(options)).use(handler)
  const sent = async (...events) => {
    const app = serve(ctx => {
      const stream = ctx.sse()
      for (const event of events) stream.send(event)
      stream.end()
    })
    return (await ask(app, 'GET /')).text
  }

  it('should respond with an event stream that nobody caches or collects', async () => {
    const { status, headers } = await ask(serve(ctx => {
      ctx.sse().send('x')
      ctx.sse().end()
    }), 'GET /')
    assert.deepEqual([status, headers['content-type']], [200, 'text/event-stream; charset=utf-8'])
    assert.deepEqual([headers['cache-control'], headers['x-accel-buffering']], ['no-cache, no-transform', 'no'])
    assert.equal(headers['content-length'], undefined)
  })

  it('should send every field', async () => {
    const text = await sent({ event: 'tick', data: 'now', id: 7, retry: 3000 })
    assert.deepEqual(parse(text), [{ event: 'tick', data: 'now', id: '7', retry: '3000' }])
  })

  it('should send what is not text as JSON, and text as it is', async () => {
    const events = parse(await sent({ data: { a: [1] } }, { data: null }, { data: 5 }, 'plain', { data: '' }))
    assert.deepEqual(events.map(event => event.data), ['{"a":[1]}', 'null', '5', 'plain', ''])
  })

  it('should keep several lines one event', async () => {
    const text = await sent({ data: 'a\nb\r\nc\rd\n\ne' }, { data: 'x\n\nevent: forged' })
    assert.deepEqual(parse(text), [{ data: 'a\nb\nc\nd\n\ne' }, { data: 'x\n\nevent: forged' }])
  })

  it('should let no line end or NUL of a field through', async () => {
    const evil = 'a\r\n\ndata: forged\r\0b'
    const text = await sent({ event: evil, id: evil, retry: '1\n2', data: 'x' }, { retry: 'soon', data: 'y' })
    assert.deepEqual(parse(text), [
      { id: 'adata: forgedb', event: 'adata: forgedb', retry: '12', data: 'x' }, { data: 'y' }
    ])
    assert(!text.includes('\0'))
  })

  it('should send as it goes, to a handler that has returned', async () => {
    let stream
    const client = await open(await listen(serve(ctx => { stream = ctx.sse(); stream.send('one') })))
    await client.until('data: one\n\n')
    assert.equal(stream.send('two'), true)
    await client.until('data: two\n\n')
    stream.end()
    await client.ended
    assert.equal(stream.send('three'), false)
  })

  it('should send as it goes, in a handler that does not return', async () => {
    let stop
    const client = await open(await listen(serve(async ctx => {
      ctx.sse().send('one')
      await new Promise(resolve => { stop = resolve })
      ctx.sse().send('two')
      ctx.sse().end()
    })))
    await client.until('data: one\n\n')
    stop()
    await client.until('data: two\n\n')
    await client.ended
  })

  const FAILURES = [() => { throw new Error('boom') }, stream => stream.destroy()]

  it('should close the connection of a handler that throws, or destroys the stream, after its begin', async () => {
    for (const act of FAILURES) {
      let proceed
      const closed = []
      const client = await open(await listen(serve(async ctx => {
        const stream = ctx.sse().on('close', () => closed.push(ctx.path))
        stream.send('one')
        await new Promise(resolve => { proceed = resolve })
        act(stream)
      }, { heartbeat: 5 })))
      await client.until('data: one\n\n')
      proceed()
      assert.equal((await client.failed).code, 'ECONNRESET')
      await until(() => closed.length > 0)
    }
  })

  it('should close it behind the responses before, too', { timeout: 20000 }, async () => {
    for (const act of FAILURES) {
      let fail
      const { port } = await listen(serve(ctx => new Promise((resolve, reject) => {
        if (ctx.path === '/first') {
          ctx.body = 'first'
          return until(() => fail).then(() => fail()).then(resolve)
        }
        const stream = ctx.sse()
        stream.send('one')
        fail = () => until(() => ctx.headerSent).then(() => {
          try { act(stream) } catch (err) { reject(err) }
        })
      })))
      const client = net.connect(port, '127.0.0.1')
      client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /events HTTP/1.1\r\nHost: a\r\n\r\n')
      const text = await client.toArray().then(chunks => chunks.join(''), err => err.code)
      assert.doesNotMatch(text, /\r\n0\r\n/)
    }
  })

  it('should reset the stream of HTTP/2 with the same error then', async () => {
    for (const act of FAILURES) {
      const app = new Koa()
      const errors = []
      app.on('error', err => errors.push(err.message))
      let proceed
      app.use(sse()).use(async ctx => {
        const stream = ctx.sse()
        stream.send('one')
        await new Promise(resolve => { proceed = resolve })
        act(stream)
      })
      const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
      try {
        const client = session.request({ ':path': '/' })
        await once(client, 'data')
        proceed()
        await once(client, 'error')
        assert.equal(client.rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR)
        await until(() => errors.length > 0)
        assert.equal(new Set(errors).size, 1, String(errors)) // Koa reports it twice
      } finally {
        session.destroy()
        server.close()
      }
    }
  })

  it('should end with the client', async () => {
    let stream
    const closed = []
    const client = await open(await listen(serve(ctx => {
      stream = ctx.sse()
      stream.on('close', () => closed.push(ctx.path))
      stream.send('x')
    })))
    await client.until('data: x\n\n')
    client.destroy()
    await until(() => closed.length > 0)
    assert.equal(stream.destroyed, true)
    assert.equal(stream.send('late'), false)
    stream.end()
  })

  it('should keep a silent stream open by comments', async () => {
    let stream
    const client = await open(await listen(serve(ctx => { stream = ctx.sse() }, { heartbeat: 10 })))
    await client.until(':\n\n:\n\n')
    stream.end()
    await client.ended
    assert.deepEqual(parse(client.text()), [])
  })

  it('should bound what a client does not read, and report when it can take more', async () => {
    const limit = 64 * 1024
    let stream
    const { port } = await listen(serve(ctx => { stream = ctx.sse() }, { limit, heartbeat: 0 }))
    const socket = net.connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    socket.pause()
    await until(() => stream)
    const data = 'x'.repeat(8 * 1024)
    let accepted = 0
    for (let refused = 0; refused < 20;) {
      if (stream.send({ data })) accepted++
      else refused++
      assert(stream.readableLength <= limit)
      if (accepted % 8 === 0) await new Promise(resolve => setImmediate(resolve)) // let the sockets fill
    }
    let drained = false
    stream.on('drain', () => { drained = true })
    socket.resume()
    await until(() => drained)
    assert.equal(stream.send('again'), true)
    socket.destroy()
  })

  it('should send one event that is larger than the limit', async () => {
    const app = serve(ctx => {
      const stream = ctx.sse()
      stream.send('x'.repeat(1000))
      stream.end()
    }, { limit: 100 })
    assert.equal(parse((await ask(app, 'GET /')).text)[0].data.length, 1000)
  })

  it('should tell what the client saw last', async () => {
    const app = serve(ctx => {
      const stream = ctx.sse()
      stream.send(stream.lastEventId)
      stream.end()
    })
    for (const id of ['41', 'é 漢']) {
      const res = await ask(app, 'GET /', { headers: { 'Last-Event-ID': Buffer.from(id).toString('latin1') } }) // UTF-8
      assert.deepEqual(parse(res.text), [{ data: id }])
    }
  })

  it('should throw for what is neither text nor an event', async () => {
    const app = serve(ctx => {
      const stream = ctx.sse()
      for (const event of [5, true, null, undefined, ['x']]) {
        assert.throws(() => stream.send(event), err => err instanceof TypeError && err.message.startsWith('sse: send() takes an event'))
      }
      stream.end()
    })
    assert.deepEqual([(await ask(app, 'GET /')).status, (await ask(app, 'GET /')).text], [200, ''])
  })

  it('should leave other responses alone', async () => {
    const res = await ask(serve(ctx => { ctx.body = 'text' }), 'GET /')
    assert.deepEqual([res.text, res.headers['content-type'], res.headers['cache-control']],
      ['text', 'text/plain; charset=utf-8', undefined])
  })

  it('should not be held back by compression', async () => {
    let stream
    const app = [compress({ threshold: 0, filter: () => true }), sse(), ctx => {
      stream = ctx.sse()
      stream.send('now')
    }]
    const client = await open(await listen(app), { 'Accept-Encoding': 'gzip' })
    await client.until('data: now\n\n')
    stream.end()
    await client.ended
  })

  it('should end a HEAD at once and keep nothing', async () => {
    let stream
    const res = await ask(serve(ctx => { stream = ctx.sse() }), 'HEAD /')
    assert.equal(res.headers['content-type'], 'text/event-stream; charset=utf-8')
    await until(() => stream.destroyed)
  })

  it('should end a HEAD of a handler that has not returned, and notify the handler', async () => {
    const closed = []
    const app = serve(async ctx => {
      const stream = ctx.sse()
      stream.on('close', () => closed.push(ctx.path))
      if (ctx.path === '/held') await new Promise(() => {})
      while (stream.send('event')) await new Promise(resolve => setImmediate(resolve))
    })
    for (const path of ['/loop', '/held']) {
      const res = await ask(app, `HEAD ${path}`)
      assert.deepEqual([res.status, res.headers['content-type']], [200, 'text/event-stream; charset=utf-8'])
    }
    assert.deepEqual(closed, ['/loop', '/held'])
  })

  it('should respond with 500 when the headers cannot be sent while the handler runs', async () => {
    const app = serve(ctx => {
      ctx.sse()
      ctx.flushHeaders = () => { throw new Error('node refuses these headers') }
      return new Promise(() => {})
    })
    app.silent = true
    assert.equal((await ask(app, 'GET /')).status, 500)
  })
})

/** By the rules of the standard, in short. */
function parse (text) {
  return text.split('\n\n').map(block => {
    const event = {}
    for (const line of block.split('\n')) {
      if (line === '' || line.startsWith(':')) continue
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line)
      event[field] = field === 'data' && field in event ? `${event.data}\n${value}` : value
    }
    return event
  }).filter(event => Object.keys(event).length > 0)
}

async function open ({ port }, headers) {
  const req = http.get({ host: '127.0.0.1', port, headers, agent: false })
  req.on('error', () => {})
  const res = await new Promise(resolve => req.once('response', resolve))
  let text = ''
  res.setEncoding('utf8').on('data', chunk => { text += chunk }).on('error', () => {})
  return {
    text: () => text,
    ended: new Promise(resolve => res.once('end', resolve)),
    failed: new Promise(resolve => res.once('error', resolve)),
    destroy: () => req.destroy(),
    async until (part) { await until(() => text.includes(part)) }
  }
}

describe('sse when its app closes', () => {
  const KEYS = generate([{ name: 'commonName', value: 'localhost' }])
  const SERVERS = {
    'app.listen()': [app => app.listen(0), http],
    'node:http': [app => Object.assign(app, { http1: false }).listen(0), http],
    TLS: [(app, keys) => app.attach(https.createServer(keys)).listen(0), https],
    'HTTP/2': [(app, keys) => app.attach(http2.createSecureServer(keys)).listen(0), http2]
  }

  for (const [name, [listen, client]] of Object.entries(SERVERS)) {
    it(`should end each stream, and tell its client to come back: ${name}`, async () => {
      const closed = []
      const app = new Kone().use(sse()).use(ctx => {
        const stream = ctx.sse()
        stream.on('close', () => closed.push(ctx.path))
        stream.send('hello')
      })
      const { private: key, cert } = await KEYS
      const server = listen(app, { key, cert })
      await once(server, 'listening')
      const visit = async path => {
        const res = await begin(client, server.address().port, path)
        res.setEncoding('utf8')
        await once(res, 'data')
        return res
      }
      const responses = [await visit('/1'), await visit('/2')]
      const texts = responses.map(async res => (await res.toArray()).join(''))
      await app.close({ timeout: 600_000, grace: 0 })
      for (const text of await Promise.all(texts)) {
        const [, ms] = /^retry: (\d+)\n\n$/.exec(text) ?? assert.fail(text)
        assert(ms >= 1000 && ms <= 3000, ms)
      }
      assert.deepEqual(closed.sort(), ['/1', '/2'])
    })
  }

  async function begin (client, port, path) {
    if (client === http2) return http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).request({ ':path': path })
    const [res] = await once(client.get({ port, path, rejectUnauthorized: false }), 'response')
    return res
  }
})
