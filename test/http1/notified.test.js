'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const { codes } = require('../../lib/errors')
const { get, waitFor } = require('./sides')
const { download, front } = require('./wire')

const LARGE = 48 * 1024 * 1024
const LOST = 'KONE_ERR_RESPONSE_LOST'

/** How each request ended, by its path: 'sent', or the code of the error. A second call is a failure. */
class Notified {
  constructor (app) {
    this.begun = new Set()
    this.ends = {}
    this.finished = []
    this.failures = []
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
    if (err && !Object.hasOwn(codes, err.code)) this.failures.push(`${path}: ${err.code} is not a code of lib/errors.js`)
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

const notified = setup => app => {
  app.ends = new Notified(app)
  setup(app)
}

const responses = (client, count) => {
  const came = () => client.text.split('HTTP/1.1 200 OK').length - 1
  return waitFor(() => came() === count, () => `${count} responses, got ${came()}`)
}

front('ctx.onFinished() of a response that was flushed', ({ it, serve }) => {
  it('should be notified once with null, whatever the body is', async () => {
    const bodies = {
      '/string': 'hello',
      '/buffer': Buffer.from('hello'),
      '/large': Buffer.alloc(100_000, 'x'),
      '/object': { hello: true },
      '/empty': null,
      '/thrown': null,
      '/stream': () => Readable.from(['hello'])
    }
    const { app, talk } = await serve(notified(app => app.use(ctx => {
      if (ctx.path === '/thrown') ctx.throw(400)
      const body = bodies[ctx.path]
      ctx.body = typeof body === 'function' ? body() : body
    })))
    const paths = Object.keys(bodies)
    const client = await talk()
    for (const path of paths) {
      client.write(get(path))
      await waitFor(() => app.ends.ends[path], `the end of ${path}`)
    }
    await app.ends.are(Object.fromEntries(paths.map(path => [path, 'sent'])))
    client.destroy()
  })

  it('should be notified once with null in a pipelined batch, with and without other listeners', async () => {
    const { app, talk } = await serve(notified(app => app.use(ctx => {
      ctx.body = ctx.path.endsWith('b') ? Buffer.from('hello') : 'hello'
    })))
    const paths = Array.from({ length: 40 }, (_, i) => `/${i}${i % 3 ? 'a' : 'b'}`)
    const client = await talk(paths.map(path => get(path)).join(''))
    await responses(client, 40)
    await app.ends.are(Object.fromEntries(paths.map(path => [path, 'sent'])))
  })

  it('should not be notified before a slow client has taken enough', async () => {
    const { app, port, sockets } = await serve(notified(app => app.use(ctx => { ctx.body = Buffer.alloc(LARGE) })))
    const client = await download(port, get('/'))
    await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
    for (let i = 0; i < 50; i++) await turn()
    assert.deepEqual(app.ends.ends, {})
    assert.deepEqual(app.ends.finished, [])
    client.resume()
    await client.received(LARGE)
    await app.ends.are({ '/': 'sent' })
  })

  it('should be notified once with null of the last response of a connection', async () => {
    const { app, talk } = await serve(notified(app => app.use(ctx => { ctx.body = Buffer.alloc(1_000_000, 'x') })))
    const client = await talk(get('/', 'Connection: close\r\n'))
    await client.all()
    assert(client.text.length > 1_000_000)
    await app.ends.are({ '/': 'sent' })
  })
})

front('ctx.onFinished() of files and Buffers in one pipelined batch', ({ it, serve }) => {
  it('should leave no file open', async () => {
    const files = []
    const ends = []
    const { talk } = await serve(app => app.use(ctx => {
      if (ctx.method === 'GET') {
        ctx.body = Buffer.from('hello')
        return
      }
      const file = fs.createReadStream(__filename)
      files.push(file)
      ctx.onFinished(err => ends.push(err))
      ctx.type = 'text'
      ctx.body = file
    }))
    const head = 'HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n'
    const client = await talk((head + get('/buffer')).repeat(100))
    await responses(client, 200)
    await waitFor(() => ends.length === 100, () => `100 files, notified: ${ends.length}`)
    await waitFor(() => files.every(file => file.closed), () => `files still open: ${files.filter(file => !file.closed).length}`)
    assert.deepEqual(new Set(ends), new Set([null]))
  })

  it('should be notified when only the first has a listener', async () => {
    const ends = []
    const { talk } = await serve(app => app.use(ctx => {
      if (ctx.path === '/1') ctx.onFinished(err => ends.push(err))
      ctx.body = Buffer.from('hello')
    }))
    const client = await talk(get('/1') + get('/2'))
    await client.until(/hello[^]+hello$/)
    await waitFor(() => ends.length, 'the end of the first')
    assert.deepEqual(ends, [null])
  })
})

front('ctx.onFinished() of a response that was lost', ({ it, serve }) => {
  /** Which of these responses came whole? */
  const whole = (client, paths) => paths.filter(path => client.text.includes(`whole ${path}.`))

  it('should call lost what ctx.socket.destroy() left behind in a pipelined batch', async () => {
    const { app, talk } = await serve(notified(app => app.use(ctx => {
      if (ctx.path === '/3') ctx.socket.destroy()
      ctx.body = `whole ${ctx.path}.`
    })))
    const paths = ['/1', '/2', '/3', '/4']
    const client = await talk(paths.map(path => get(path)).join(''))
    await client.all()
    const ends = await app.ends.all()
    const came = whole(client, paths)
    assert.deepEqual(ends, Object.fromEntries(Object.keys(ends).map(path => [path, came.includes(path) ? 'sent' : LOST])))
    assert.equal(ends['/3'], LOST)
  })

  it('should call lost what is behind a response that closes', async () => {
    const { app, talk } = await serve(notified(app => app.use(ctx => {
      if (ctx.path === '/2') ctx.set('Connection', 'close')
      ctx.body = `whole ${ctx.path}.`
    })))
    const client = await talk(get('/1') + get('/2') + get('/3') + get('/4'))
    await client.all()
    assert.deepEqual(whole(client, ['/1', '/2', '/3', '/4']), ['/1', '/2'])
    await app.ends.are({ '/1': 'sent', '/2': 'sent', '/3': LOST, '/4': LOST })
  })

  it('should call lost what is ready only behind a response that closes', async () => {
    let release
    const { app, talk } = await serve(notified(app => app.use(async ctx => {
      if (ctx.path === '/1') await new Promise(resolve => { release = resolve })
      if (ctx.path === '/1') ctx.set('Connection', 'close')
      ctx.body = `whole ${ctx.path}.`
    })))
    const client = await talk(get('/1') + get('/2'))
    await waitFor(() => release, 'the request')
    release()
    await client.all()
    await app.ends.are({ '/1': 'sent', '/2': LOST })
  })

  it('should call lost what comes after the client ended its side', async () => {
    let release
    const { app, talk, sockets } = await serve(notified(app => app.use(async ctx => {
      await new Promise(resolve => { release = resolve })
      ctx.body = `whole ${ctx.path}.`
    })))
    const client = await talk(get('/1'))
    await waitFor(() => release, 'the request')
    client.end()
    await waitFor(() => sockets[0].writableEnded || sockets[0].destroyed, 'the end')
    release()
    await client.all()
    assert.equal(client.text, '')
    await app.ends.are({ '/1': LOST })
  })

  it('should call lost what comes after the client has gone, and what waits behind it', async () => {
    const held = []
    const { app, talk, sockets } = await serve(notified(app => app.use(async ctx => {
      if (ctx.path === '/1') await new Promise(resolve => { held.push(resolve) })
      ctx.body = `whole ${ctx.path}.`
    })))
    const client = await talk(get('/1') + get('/2') + get('/3'))
    await waitFor(() => held.length, 'the request')
    client.socket.resetAndDestroy()
    await waitFor(() => sockets[0].destroyed, 'the end')
    await app.ends.are({ '/1': LOST, '/2': LOST, '/3': LOST })
    held[0]()
    await turn()
    await app.ends.are({ '/1': LOST, '/2': LOST, '/3': LOST })
  })

  for (const [what, err] of [['failed midway', new Error('midway')], ['closed before its end', undefined]]) {
    it(`should call lost what a stream cut short that ${what}`, async () => {
      const { app, talk } = await serve(notified(app => app.use(ctx => {
        let chunks = 0
        ctx.body = new Readable({
          read () {
            if (chunks++ < 3) setImmediate(() => this.push('chunk'))
            else this.destroy(err)
          }
        })
      })))
      const client = await talk(get('/'))
      await client.all()
      assert.doesNotMatch(client.text, /0\r\n\r\n$/)
      await app.ends.are({ '/': LOST })
    })
  }

  for (const [what, body] of [['string', 'x'.repeat(LARGE)], ['Buffer', Buffer.alloc(LARGE)]]) {
    it(`should call lost a ${what} that no kernel can hold when the client goes`, async () => {
      const { app, port, sockets } = await serve(notified(app => app.use(ctx => { ctx.body = body })))
      const client = await download(port, get('/'))
      await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
      client.reset()
      await waitFor(() => sockets[0].destroyed, 'the end')
      await app.ends.are({ '/': LOST })
    })

    it(`should call lost a ${what} in front of a request that node:http gets, when the client goes`, async () => {
      const { app, port, sockets } = await serve(notified(app => app.use(ctx => { ctx.body = ctx.path === '/' ? body : 'x' })))
      const client = await download(port, get('/'))
      await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
      client.socket.write('POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
      await waitFor(() => [...app.ends.begun].includes('/2'), 'the second request')
      client.reset()
      await waitFor(() => sockets[0].destroyed, 'the end')
      await app.ends.are({ '/': LOST, '/2': LOST })
    })

    it(`should call lost a ${what} that a timeout cuts`, async () => {
      const { app, port, sockets } = await serve(notified(app => app.use(ctx => { ctx.body = body })), {
        timeout: 300 // long enough for the request to come first, also on a busy machine
      })
      const client = await download(port, get('/'))
      await waitFor(() => sockets[0]?.destroyed, 'the timeout')
      await app.ends.are({ '/': LOST })
      client.destroy()
    })
  }

  it('should call lost the rest of a batch that no kernel can hold when the client goes', async () => {
    const { app, port, sockets } = await serve(notified(app => app.use(ctx => { ctx.body = 'x'.repeat(LARGE / 16) })))
    const paths = Array.from({ length: 16 }, (_, i) => `/${i}`)
    const client = await download(port, paths.map(path => get(path)).join(''))
    await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
    client.reset()
    await waitFor(() => sockets[0].destroyed, 'the end')
    const ends = Object.values(await app.ends.all())
    assert(ends.includes(LOST), `${ends}`)
    assert(!ends.slice(ends.indexOf(LOST)).includes('sent'), `${ends}`)
  })

  it('should call lost what app.close() cuts at its deadline', async () => {
    const { app, port, sockets } = await serve(notified(app => app.use(ctx => { ctx.body = Buffer.alloc(LARGE) })))
    const client = await download(port, get('/'))
    await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
    await app.close({ timeout: 50, grace: 0 })
    await app.ends.are({ '/': LOST })
    client.destroy()
  })

  it('should say so to a listener that comes late', async () => {
    let ctx
    const { talk, sockets } = await serve(app => app.use(one => {
      ctx = one
      return new Promise(() => {})
    }))
    const client = await talk(get('/'))
    await waitFor(() => ctx, 'the request')
    client.socket.resetAndDestroy()
    await waitFor(() => sockets[0].destroyed, 'the end')
    for (let i = 0; i < 5; i++) await turn()
    const err = await new Promise(resolve => ctx.onFinished(resolve))
    assert.equal(err?.code, LOST)
  })
})
