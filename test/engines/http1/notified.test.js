'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { PassThrough, Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const { codes } = require('../../../lib/core/errors')
const { MAJOR, get, holding, last, settled, sides, unsupported, use, waitFor } = require('./sides')
const { download, front, wire } = require('./wire')

const LARGE = 48 * 1024 * 1024
const LOST = 'KONE_ERR_RESPONSE_LOST'

/** How each request ended, by its path: 'sent', or the code of the error. A second call is a failure. */
class Notified {
  constructor (app) {
    this.begun = new Set()
    this.ends = {}
    this.finished = []
    this.failures = []
    this.app = app
    app.on('finish', ctx => this.finished.push(ctx.path))
    app.use((ctx, next) => {
      const { path } = ctx
      this.begun.add(path)
      ctx.onFinished(err => this.end(path, err))
      return next()
    })
  }

  end (path, err) {
    if (path in this.ends) this.failures.push(`${path} is notified twice`)
    if (err !== null && !(err instanceof Error)) this.failures.push(`${path} is notified of ${err}`)
    if (err && !Object.hasOwn(codes, err.code)) this.failures.push(`${path}: ${err.code} is not a code of lib/core/errors.js`)
    this.ends[path] = err === null ? 'sent' : err?.code
  }

  /** Until every request that the app has seen is notified: both ways, once. */
  async all () {
    const paths = [...this.begun]
    await waitFor(() => paths.every(path => path in this.ends), () => `${paths} behind ${JSON.stringify(this.ends)}`)
    await waitFor(() => this.finished.length >= paths.length, () => `'finish' of ${paths} behind ${this.finished}`)
    await turn()
    await turn()
    assert.deepEqual(this.finished.sort(), paths.sort())
    assert.deepEqual(this.failures, [])
    return this.ends
  }

  async are (expected) {
    assert.deepEqual(await this.all(), expected)
  }
}

/** A site of this middleware, with `ends`, and `download` of a target. */
const site = async (serve, fn, options) => {
  let ends
  const site = await serve(app => {
    ends = new Notified(app)
    app.use(fn)
  }, options)
  return {
    ...site,
    ends,
    isDestroyed: () => waitFor(() => site.sockets[0]?.destroyed, 'the end'),
    /** A client that has not read of the response that has begun. */
    async begin (bytes) {
      const client = await download(site.port, bytes)
      await waitFor(() => site.sockets[0]?.bytesWritten > 0, 'the response')
      return client
    }
  }
}

const of = (paths, end) => Object.fromEntries(paths.map(path => [path, end]))
const batch = paths => paths.map(path => get(path)).join('')

const responses = (client, count) => {
  const came = () => client.text.split('HTTP/1.1 200 OK').length - 1
  return waitFor(() => came() === count, () => `${count} responses, got ${came()}`)
}

front('ctx.onFinished() of a response that was flushed', ({ it, serve }) => {
  it('should not be notified before a slow client has taken enough', async () => {
    const { ends, begin } = await site(serve, ctx => { ctx.body = Buffer.alloc(LARGE) })
    const client = await begin(get('/'))
    for (let i = 0; i < 50; i++) await turn()
    assert.deepEqual([ends.ends, ends.finished], [{}, []])
    client.resume()
    await client.received(LARGE)
    await ends.are({ '/': 'sent' })
  })

  it('should be notified once with null of the last response of a connection', async () => {
    const { ends, all } = await site(serve, ctx => { ctx.body = Buffer.alloc(1_000_000, 'x') })
    assert((await all(last('/'))).length > 1_000_000)
    await ends.are({ '/': 'sent' })
  })
})

front('ctx.onFinished() of files and Buffers in one pipelined batch', ({ it, serve, ask }) => {
  it('should leave no file open', async () => {
    const files = []
    const ends = []
    const { talk } = await serve(use(ctx => {
      ctx.body = Buffer.from('hello')
      if (ctx.method === 'GET') return
      const file = fs.createReadStream(__filename)
      files.push(file)
      ctx.onFinished(err => ends.push(err))
      ctx.type = 'text'
      ctx.body = file
    }))
    const head = 'HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n'
    await responses(await talk((head + get('/buffer')).repeat(100)), 200)
    await waitFor(() => ends.length === 100, () => `100 files, notified: ${ends.length}`)
    await waitFor(() => files.every(file => file.closed), () => `files still open: ${files.filter(file => !file.closed).length}`)
    assert.deepEqual(new Set(ends), new Set([null]))
  })

  it('should be notified when only the first has a listener', async () => {
    const ends = []
    await ask(use(ctx => {
      if (ctx.path === '/1') ctx.onFinished(err => ends.push(err))
      ctx.body = Buffer.from('hello')
    }), get('/1') + get('/2'), /hello[^]+hello$/)
    await waitFor(() => ends.length, 'the end of the first')
    assert.deepEqual(ends, [null])
  })
})

front('ctx.onFinished() of a response that was lost', ({ it, serve }) => {
  const FOUR = ['/1', '/2', '/3', '/4']
  const respond = ctx => { ctx.body = `whole ${ctx.path}.` }
  const closing = ctx => {
    ctx.set('Connection', 'close')
    respond(ctx)
  }

  /** Which of these responses came whole? */
  const whole = text => FOUR.filter(path => text.includes(`whole ${path}.`))

  it('should call lost what ctx.socket.destroy() left behind in a pipelined batch', async () => {
    const { ends, all } = await site(serve, ctx => {
      if (ctx.path === '/3') ctx.socket.destroy()
      respond(ctx)
    })
    const came = whole(await all(batch(FOUR)))
    const found = await ends.all()
    assert.deepEqual(found, Object.fromEntries(Object.keys(found).map(path => [path, came.includes(path) ? 'sent' : LOST])))
    assert.equal(found['/3'], LOST)
  })

  it('should call lost what is ready only behind a response that closes', async () => {
    let release
    const { ends, talk } = await site(serve, async ctx => {
      if (ctx.path !== '/1') return respond(ctx)
      await new Promise(resolve => { release = resolve })
      closing(ctx)
    })
    const client = await talk(batch(['/1', '/2']))
    await waitFor(() => release, 'the request')
    release()
    await client.all()
    await ends.are({ '/1': 'sent', '/2': LOST })
  })

  for (const [what, paths, leave, isOver] of [
    ['the client ended its side', ['/1'], client => client.end(), socket => socket.writableEnded || socket.destroyed],
    ['the client has gone, and what waits behind it', ['/1', '/2', '/3'], client => client.socket.resetAndDestroy(), socket => socket.destroyed]
  ]) {
    it(`should call lost what comes after ${what}`, async () => {
      let release
      const { ends, talk, sockets } = await site(serve, async ctx => {
        if (ctx.path === '/1') await new Promise(resolve => { release = resolve })
        respond(ctx)
      })
      const client = await talk(batch(paths))
      await waitFor(() => release, 'the request')
      leave(client)
      await waitFor(() => isOver(sockets[0]), 'the end')
      if (sockets[0].destroyed) await ends.are(of(paths, LOST))
      release()
      await turn()
      await client.all()
      assert.equal(client.text, '')
      await ends.are(of(paths, LOST))
    })
  }

  it('should call lost a stream whose socket other code has ended, in front of a request that node:http gets', async () => {
    let body
    const { ends, talk, sockets } = await site(serve, ctx => {
      if (ctx.path === '/next') return new Promise(() => {})
      ctx.body = body = new PassThrough()
      body.write('begun')
    })
    const client = await talk(get('/'))
    await client.until(/begun\r\n$/)
    client.write(unsupported('0\r\n\r\n', '/next'))
    await waitFor(() => sockets[0].bytesRead > get('/').length, 'the rest')
    sockets[0].end()
    body.end()
    for (let i = 0; i < 5; i++) await turn()
    sockets[0].destroy()
    assert.equal((await ends.all())['/'], LOST)
  })

  for (const [what, err] of [['failed midway', new Error('midway')], ['closed before its end', undefined]]) {
    it(`should call lost what a stream cut short that ${what}`, async () => {
      const { ends, all } = await site(serve, ctx => {
        let chunks = 0
        ctx.body = new Readable({
          read () {
            if (chunks++ < 3) setImmediate(() => this.push('chunk'))
            else this.destroy(err)
          }
        })
      })
      assert.doesNotMatch(await all(get('/')), /0\r\n\r\n$/)
      await ends.are({ '/': LOST })
    })
  }

  for (const [what, body] of [['string', 'x'.repeat(LARGE)], ['Buffer', Buffer.alloc(LARGE)]]) {
    const page = ctx => { ctx.body = ctx.path === '/' ? body : 'x' }

    it(`should call lost a ${what} that no kernel can hold when the client goes`, async () => {
      const { ends, begin, isDestroyed } = await site(serve, page)
      const client = await begin(get('/'))
      client.reset()
      await isDestroyed()
      await ends.are({ '/': LOST })
    })

    it(`should call lost a ${what} in front of a request that node:http gets, when the client goes`, async () => {
      const { ends, begin, isDestroyed, sockets } = await site(serve, page)
      const client = await begin(get('/'))
      client.socket.write(unsupported('', '/2'))
      await waitFor(() => sockets[0].bytesRead > get('/').length, 'the second request')
      client.reset()
      await isDestroyed()
      assert.equal((await ends.all())['/'], LOST)
    })

    it(`should call lost a ${what} that a timeout cuts`, async () => {
      // long enough for the request to come first, also on a busy machine
      const { ends, port, isDestroyed } = await site(serve, page, { timeout: 300 })
      const client = await download(port, get('/'))
      await isDestroyed()
      await ends.are({ '/': LOST })
      client.destroy()
    })
  }

  it('should call lost what cannot be written any more in front of bytes that node:http gets', async () => {
    let release
    const { ends, talk, sockets } = await site(serve, async ctx => {
      await new Promise(resolve => { release = resolve })
      ctx.body = 'x'
    })
    const client = await talk(get('/'))
    await waitFor(() => release, 'the request')
    client.write(unsupported(`f4240\r\n${'x'.repeat(1e6)}\r\n0\r\n\r\n`, '/2')) // too much: the reset is not noticed
    await settled(() => sockets[0].bytesRead)
    client.socket.resetAndDestroy()
    await settled(() => client.socket.closed)
    release()
    await ends.are({ '/': LOST })
  })

  it('should call lost the rest of a batch that no kernel can hold when the client goes', async () => {
    const { ends, begin, isDestroyed } = await site(serve, ctx => { ctx.body = 'x'.repeat(LARGE / 16) })
    const client = await begin(batch(Array.from({ length: 16 }, (_, i) => `/${i}`)))
    client.reset()
    await isDestroyed()
    const found = Object.values(await ends.all())
    assert(found.includes(LOST), `${found}`)
    assert(!found.slice(found.indexOf(LOST)).includes('sent'), `${found}`)
  })

  it('should call lost what app.close() cuts at its deadline', async () => {
    const { app, ends, begin } = await site(serve, ctx => { ctx.body = Buffer.alloc(LARGE) })
    const client = await begin(get('/'))
    await app.close({ timeout: 50, grace: 0 })
    await ends.are({ '/': LOST })
    client.destroy()
  })
})

wire("the app's 'error' when the client goes", ({ it, serve }) => {
  const ROWS = {
    'of a response that is on its way': ['/large'],
    'of that response, with one behind it': ['/large', '/small'],
    'of that response, with another one that no kernel can hold behind it': ['/large', '/large/2'],
    'of none, where all responses were flushed': ['/small']
  }
  const body = Buffer.alloc(LARGE)

  for (const [what, paths] of Object.entries(ROWS)) {
    it(`should be that ${what}`, async () => {
      const errors = []
      const { begin, ends, isDestroyed } = await site(serve, ctx => { ctx.body = ctx.path === '/small' ? 'x' : body })
      ends.app.on('error', (err, ctx) => errors.push([err.code, ctx.path]))
      const client = await begin(batch(paths))
      await waitFor(() => ends.begun.size === paths.length, 'the requests')
      await turn()
      client.reset()
      await isDestroyed()
      await ends.all()
      assert.deepEqual(errors, paths[0] === '/large' ? [['ECONNRESET', '/large']] : [])
    })
  }
})

sides("the 'close' of ctx.res when the client goes", ({ it, serve }) => {
  const reads = {
    before: [ctx => ctx.res, () => {}],
    after: [() => {}, ctx => ctx.res]
  }

  for (const [when, [early, late]] of Object.entries(reads)) {
    it(`should be that of the first response, since Node 24 of the queued ones, too: read ${when}`, async () => {
      const contexts = []
      const closed = []
      const { begun, setup } = holding()
      const { talk, sockets } = await serve(app => {
        app.use((ctx, next) => {
          contexts.push(ctx)
          early(ctx)?.on('close', () => closed.push(ctx.path))
          return next()
        })
        setup(app)
      })
      const paths = ['/slow/1', '/slow/2', '/slow/3']
      const client = await talk(batch(paths))
      await begun(3)
      client.socket.resetAndDestroy()
      await waitFor(() => sockets[0].closed, 'the end')
      for (let i = 0; i < 5; i++) await turn()
      contexts.forEach(late)
      const expected = MAJOR >= 24 ? paths : ['/slow/1']
      assert.deepEqual(contexts.filter(({ res }) => res.destroyed).map(ctx => ctx.path), expected)
      if (when === 'before') assert.deepEqual(closed, expected)
    })
  }
})
