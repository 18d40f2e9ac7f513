'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const net = require('node:net')
const { Readable } = require('node:stream')
const compose = require('koa-compose')
const compress = require('kone/middleware/compress')
const etag = require('kone/middleware/etag')
const jsonp = require('kone/middleware/jsonp')

const { settled } = require('../engines/http1/sides')
const engines = require('../helpers/engines')
const until = require('../helpers/until')

const CHUNK = Buffer.alloc(64 * 1024, 'x')
const PLENTY = 256 * 1024 * 1024

const withClient = { skip: { inject: 'has no client', fetch: 'has no client' } }

/** Sources without an end, which count what is taken and tell when they are given up. */
const sources = {
  'a Readable': () => source(endless),
  'a ReadableStream': () => source(web),
  'a Response': () => source((take, release) => new Response(web(take, release))),
  'an async iterator': () => source((take, release) => Readable.from((async function * () {
    try {
      while (true) yield take()
    } finally {
      release()
    }
  })()))
}

function source (make) {
  const source = { taken: 0 }
  const take = () => {
    source.taken += CHUNK.length
    if (source.taken > PLENTY) throw new Error('nobody held the source back')
    return CHUNK
  }
  source.released = new Promise(resolve => { source.body = make(take, resolve) })
  return source
}

function endless (take, release) {
  return new Readable({
    read () { this.push(take()) },
    destroy (error, callback) {
      release()
      callback(error)
    }
  })
}

function web (take, release) {
  return new ReadableStream({ pull (controller) { controller.enqueue(take()) }, cancel () { release() } })
}

/** What changes a body, or waits, before it is sent. */
const CHANGERS = {
  compress: compress({ threshold: 0 }),
  jsonp: jsonp(),
  etag: etag(), // waits for stat()
  'compress and etag': compose([compress({ threshold: 0 }), etag()])
}
const TARGET = '/?callback=cb'
const FIELDS = { 'accept-encoding': 'gzip' }

const LARGE = 'x'.repeat(2 ** 20)
const silent = () => new Readable({ read () {} })
const plenty = () => endless(() => CHUNK, () => {})

/** When the client leaves: the body, and who makes it leave, the handler before it sets that, or the client itself. */
const LEAVES = {
  'before its body is set': [plenty, (ctx, client) => {
    client.destroy()
    return new Promise(resolve => ctx.onFinished(resolve))
  }],
  'while its body is set': [plenty, (ctx, client) => { client.destroy() }],
  'while its text is set': [() => LARGE, (ctx, client) => { client.destroy() }],
  'before the first byte': [silent, () => {}, async (client, body) => {
    await until(() => body()?.listenerCount('data') > 0)
    client.destroy()
  }],
  'after the first bytes': [plenty, () => {}, async client => {
    await once(client, 'data')
    client.destroy()
  }]
}

/** How much is taken, when that stands still. */
async function held (source) {
  await until(() => source.taken > 0)
  return settled(() => source.taken)
}

/** A client that can stop to read, and go. */
async function askBy (engine, port) {
  if (engine === 'http2') {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    const stream = session.request({ ':path': TARGET, ...FIELDS })
    stream.on('error', () => {})
    stream.once('close', () => session.destroy())
    return stream
  }
  const client = net.connect(port, '127.0.0.1')
  client.on('error', () => {})
  await once(client, 'connect')
  client.write(`GET ${TARGET} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${FIELDS['accept-encoding']}\r\n\r\n`)
  return client
}

engines('a body stream', ({ it, serve, engine }) => {
  /** An app of `fn` for /, of which errors are kept; it must go on. */
  async function guarded (fn) {
    const errors = []
    const site = await serve(app => {
      app.on('error', error => errors.push(error))
      app.use(ctx => {
        if (ctx.path === '/') return fn(ctx)
        ctx.body = 'alive'
      })
    })
    const goesOn = async () => {
      assert.equal((await site.ask('GET /alive')).text, 'alive')
      assert(errors.length <= 1, errors.map(String).join())
    }
    return { ...site, errors, goesOn }
  }

  for (const [kind, make] of Object.entries(sources)) {
    it(`should be held back while the client does not read, and given up when it goes: ${kind}`, withClient, async () => {
      const source = make()
      const { port, goesOn } = await guarded(ctx => { ctx.body = source.body })
      const client = await askBy(engine, port)
      client.pause()
      const taken = await held(source)
      assert(taken < PLENTY / 4, `${taken} bytes were taken for a client that reads nothing`)

      client.destroy()
      await source.released
      await goesOn()
    })

    it(`should go on when the client reads again: ${kind}`, withClient, async () => {
      const source = make()
      const { port } = await serve(app => app.use(ctx => { ctx.body = source.body }))
      const client = await askBy(engine, port)
      client.pause()
      const before = await held(source)
      let read = 0
      client.on('data', chunk => { read += chunk.length })
      client.resume()
      while (read < before + CHUNK.length) await once(client, 'data')
      client.destroy()
      await source.released
    })
  }

  it('should be given up when the client goes before its first byte', withClient, async () => {
    const body = new Readable({ read () {} })
    const { port, goesOn } = await guarded(ctx => { ctx.body = body })
    const client = await askBy(engine, port)
    await until(() => body.listenerCount('data') > 0)
    client.destroy()
    if (!body.destroyed) await once(body, 'close')
    await goesOn()
  })

  it('should be given up when the client goes before it was set', withClient, async () => {
    let client = null
    const { body, released } = source((take, release) => endless(() => 'x', release))
    const { port, goesOn } = await guarded(async ctx => {
      await until(() => client !== null)
      client.destroy()
      await new Promise(resolve => ctx.onFinished(resolve))
      ctx.body = body
    })
    client = await askBy(engine, port)
    await released
    await goesOn()
  })

  for (const [what, change] of Object.entries(CHANGERS)) {
    for (const [when, [make, begin, leave = () => {}]] of Object.entries(LEAVES)) {
      it(`should be given up when the client leaves ${when}: behind ${what}`, withClient, async () => {
        let client = null
        let body
        let finished = 0
        const { port, errors, goesOn } = await guarded(ctx => {
          ctx.onFinished(() => finished++)
          return change(ctx, async () => {
            await until(() => client !== null)
            await begin(ctx, client)
            ctx.type = 'json'
            body = make()
            if (body !== LARGE) body.path = __filename // for etag
            ctx.body = body
          })
        })
        client = await askBy(engine, port)
        await leave(client, () => body)
        await until(() => finished > 0 && (body === LARGE || body?.destroyed))
        await goesOn()
        assert.equal(finished, 1)
        for (const { code } of errors) assert(['ECONNRESET', 'EPIPE'].includes(code), code)
      })
    }
  }

  it('should not end the process when it fails again and again', async () => {
    const { ask, errors } = await guarded(ctx => {
      const body = ctx.body = new Readable({ read () {} })
      setImmediate(() => { for (let i = 0; i < 3; i++) body.emit('error', new Error(`failure ${i}`)) })
    })
    for (let i = 0; i < 2; i++) assert.equal((await ask('GET /')).status, 500)
    assert.equal(errors[0].message, 'failure 0')
  })

  for (const [kind, make] of Object.entries(sources)) {
    if (kind === 'an async iterator') continue // has nothing to release before its first step

    const abandoned = {
      'over HEAD': ['HEAD /', (ctx, body) => { ctx.body = body }],
      'for a status without a body': ['GET /', (ctx, body) => {
        ctx.body = body
        ctx.status = 204
      }],
      'when it is replaced': ['GET /', (ctx, body) => {
        ctx.body = body
        ctx.body = 'instead'
      }],
      'when an error is sent': ['GET /', (ctx, body) => {
        ctx.body = body
        throw new Error('boom')
      }]
    }
    for (const [when, [line, middleware]] of Object.entries(abandoned)) {
      it(`should be given up ${when}: ${kind}`, { timeout: 20000 }, async () => {
        const source = make()
        const { ask } = await serve(app => app.use(ctx => middleware(ctx, source.body)))
        await ask(line)
        await source.released
      })
    }
  }
})
