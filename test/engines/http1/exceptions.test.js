'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const { channel } = require('node:diagnostics_channel')
const fs = require('node:fs')
const path = require('node:path')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const catchUncaught = require('../../helpers/uncaught')
const { get, last, waitFor } = require('./sides')
const { front, wire } = require('./wire')

/**
 * Under a listener for 'uncaughtException' an exception in a listener or callback must have no effect on anything else:
 * later requests get their responses, timeouts still fire, all other listeners are called. The same conversation is held
 * three times: no listener throws, each throws when it is called first, each throws whenever it is called. What the
 * clients receive and what is called must be the same.
 */

/**
 * Without those whose exception ends node's own streams on both sides (a socket's, and a request's 'aborted',
 * 'end', 'error', 'readable' and 'resume'), and those whose exception comes to the caller of a method ('prefinish', 'pipe').
 */
const EVENTS = {
  app: ['error', 'finish'],
  server: ['connection', 'clientError'],
  req: ['close', 'pause'],
  res: ['close', 'socket']
}

const CHANNELS = {
  'kone:request': ['start', 'end', 'asyncStart', 'asyncEnd'].map(name => `tracing:kone:request:${name}`),
  "node's channels": ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish']
}

/** A client whose process gets no core for the first of these timeouts has the second. */
const LONGER = [1, 12]

const NEVER = 0
const ONCE = 1
const ALWAYS = Infinity

/** How often these are emitted depends on how the kernel cuts what is sent, and on whether a client resets. */
const VARIES = /'(clientError|data|pause|readable)'$/

/** Logs every call of a listener or callback, which throws at its first calls. */
class Ears {
  constructor (throws) {
    this.throws = throws
    this.heard = []
    this.thrown = []
    this.storage = new AsyncLocalStorage()
  }

  /** A listener or callback that is known as `what`. */
  on (what, then = () => {}) {
    return (...args) => {
      this.heard.push(what)
      then(...args)
      if (this.heard.filter(one => one === what).length > this.throws) return
      const err = new Error(`thrown by ${what}`)
      this.thrown.push(err)
      throw err
    }
  }

  listen (name, emitter) {
    for (const event of EVENTS[name]) emitter.on(event, this.on(`${name} '${event}'`))
  }
}

function routes (app, ears) {
  ears.listen('app', app)
  app.use(async (ctx, next) => {
    const { req, res } = ctx
    ears.listen('req', req)
    req.on('error', () => {})
    ears.listen('res', res)
    req.signal?.addEventListener('abort', ears.on("signal 'abort'"))
    ctx.onFinished(ears.on('ctx.onFinished'))
    ctx.onFinished(ears.on('ctx.onFinished, a second one'))
    ears.storage.run(ctx, () => ctx.onFinished(AsyncResource.bind(ears.on('bound'))))
    await next()
  })
  const handlers = {
    '/error': ctx => ctx.throw(500),
    '/flowing': ctx => new Promise(resolve => {
      ctx.body = 'flowing'
      ctx.req.on('data', ears.on("req 'data'")).prependListener('end', resolve)
    }),
    '/read': ctx => new Promise(resolve => {
      ctx.body = 'read'
      ctx.req.on('readable', () => { while (ctx.req.read() !== null) ears.heard.push("req 'readable'") }).prependListener('end', resolve)
    }),
    '/stream': ctx => { ctx.body = Readable.from([Buffer.alloc(200000, 'a'), Buffer.alloc(200000, 'b'), 'streamed']) },
    '/pieces': ctx => {
      ctx.respond = false
      ctx.res.write('one', ears.on('res.write'))
      ctx.res.write(Buffer.alloc(200000, 'c'))
      ctx.res.on('drain', ears.on("res 'drain'", () => ctx.res.end('pieces', ears.on('res.end'))))
    },
    '/timeout': ctx => new Promise(resolve => {
      ctx.req.setTimeout(50, ears.on('req.setTimeout'))
      ctx.res.setTimeout(50, ears.on('res.setTimeout'))
      ctx.res.prependListener('timeout', () => {
        ctx.req.setTimeout(0)
        ctx.body = 'timeout'
        resolve()
      })
    }),
    '/guarded': ctx => new Promise(resolve => {
      ctx.socket.setTimeout(50, ears.on('socket.setTimeout'))
      ctx.socket.prependOnceListener('timeout', () => {
        ctx.socket.setTimeout(0)
        ctx.body = 'guarded'
        resolve()
      })
    }),
    '/never': () => new Promise(() => {})
  }
  app.use(ctx => {
    ctx.body = ctx.path.slice(1)
    return handlers[ctx.path]?.(ctx)
  })
}

function subscribe (t, app, server, ears, names) {
  for (const name of names) {
    const hear = ears.on(name)
    const subscriber = ({ app: itsApp, request }) => {
      if (itsApp === app || request?.socket.server === server) hear()
    }
    channel(name).subscribe(subscriber)
    t.after(() => channel(name).unsubscribe(subscriber))
  }
}

/** Holds the conversation. Returns what the clients received, and what was heard. */
async function converse (t, serve, ears, watch, longer) {
  const { app, server, talk } = await serve(app => routes(app, ears), {
    connectionsCheckingInterval: 20, headersTimeout: 500 * longer, keepAliveTimeout: 1000 * longer, keepAliveTimeoutBuffer: 1
  })
  app.on('error', () => {})
  const sockets = []
  server.on('connection', socket => sockets.push(socket))
  server.on('clientError', (err, socket) => socket.end(`HTTP/1.1 400 ${err.code}\r\n\r\n`))
  server.on('timeout', socket => { if (!socket._httpMessage) socket.destroy() })
  ears.listen('server', server)
  server.setTimeout(0, ears.on('server.setTimeout'))
  watch(t, app, server, ears)

  const client = await talk()
  const ask = async (bytes, pattern) => {
    client.write(bytes)
    await client.until(pattern)
  }
  await ask(get('/1') + get('/2') + get('/3'), /\r\n\r\n3$/)
  await ask(get('/error'), /Internal Server Error$/)
  await ask(get('/pieces') + get('/4'), /\r\n\r\n4$/)
  await ask(get('/stream') + get('/stream') + get('/5'), /\r\n\r\n5$/)
  for (const path of ['/flowing', '/read']) {
    client.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\none`)
    await waitFor(() => ears.heard.includes(path === '/read' ? "req 'readable'" : "req 'data'"), () => `the body of ${path}`)
    await ask(`two${get('/6')}`, /\r\n\r\n6$/)
  }
  await ask(get('/timeout'), /\r\n\r\ntimeout$/)
  await ask(get('/guarded'), /guarded$/)

  const left = await talk(get('/never') + get('/9') + get('/10'))
  await waitFor(() => sockets.length === 2, 'the connection')
  left.destroy()
  const others = [await talk('junk\r\n\r\n'), await talk('GET /half HTTP/1.1\r\n')]
  for (const other of others) await other.all()
  await client.all() // the keep-alive timeout
  const again = [await talk('GET /half HTTP/1.1\r\n'), await talk(get('/11'))]
  await again[0].all()
  await again[1].until(/\r\n\r\n11$/)
  await waitFor(() => sockets.filter(socket => !socket.closed).length === 1, 'the other sockets to be closed')
  await turn()
  const texts = [client, ...others, ...again].map(client => client.text.replace(/^Date: .*\r\n/gm, '').replace(/(.)\1{999,}/g, '$1…'))
  const heard = {}
  for (const what of ears.heard.sort()) heard[what] = VARIES.test(what) ? 'called' : (heard[what] ?? 0) + 1
  return { texts, heard }
}

const WATCHES = {
  'no watcher': () => {},
  "a second listener for 'request'": (t, app, server, ears) => server.on('request', ears.on("server 'request'"))
}
for (const [what, names] of Object.entries(CHANNELS)) {
  WATCHES[`subscribers of ${what}`] = (t, app, server, ears) => subscribe(t, app, server, ears, names)
}

front('an exception in a listener or callback', ({ it, serve }) => {
  for (const [what, watch] of Object.entries(WATCHES)) {
    it(`should have no effect on anything else, with ${what}`, async t => {
      const uncaught = catchUncaught(t)
      for (const longer of LONGER) {
        uncaught.length = 0
        const ears = [NEVER, ONCE, ALWAYS].map(times => new Ears(times))
        const ended = await Promise.allSettled(ears.map(one => converse(t, serve, one, watch, longer)))
        const failed = ended.find(({ reason }) => reason)
        if (failed && longer !== LONGER.at(-1)) continue
        if (failed) throw failed.reason
        const [expected, ...others] = ended.map(({ value }) => value)
        for (const found of others) assert.deepEqual(found, expected)
        return assert.deepEqual(uncaught.map(String).sort(), ears.flatMap(({ thrown }) => thrown.map(String)).sort())
      }
    })
  }
})

front('an exception in a ctx.onerror of the app’s own', ({ it, serve }) => {
  it('should not keep a connection that has failed', async t => {
    const uncaught = catchUncaught(t)
    const heard = []
    const { talk } = await serve(app => {
      app.context.onerror = err => { throw err }
      app.use(ctx => {
        ctx.onFinished(err => heard.push(err.code))
        heard.push('called')
        return new Promise(() => {})
      })
    })
    const client = await talk(get('/'))
    await waitFor(() => heard.length === 1, 'the request')
    client.socket.resetAndDestroy()
    await waitFor(() => heard.length === 2, 'the end of its response')
    assert.deepEqual([heard, uncaught.map(({ code }) => code)], [['called', 'KONE_ERR_RESPONSE_LOST'], ['ECONNRESET']])
  })
})

wire("an exception in a listener for 'prefinish'", ({ it, serve }) => {
  for (const ask of [get, last]) {
    for (const isQueued of [false, true]) {
      const where = `${isQueued ? 'a queued' : 'the first'} response${ask === last ? ', the last one' : ''}`
      it(`should have no effect on what is sent: ${where}`, async t => {
        const uncaught = catchUncaught(t)
        const errors = []
        let release = () => {}
        const { app, talk } = await serve(app => app.use(ctx => {
          ctx.body = ctx.path
          if (ctx.path === '/slow') return new Promise(resolve => { release = resolve })
          if (ctx.path === '/next') return
          ctx.res.on('prefinish', () => { throw new Error('on purpose') })
          setImmediate(() => release())
        }))
        app.on('error', err => errors.push(err.message))
        const client = await talk(isQueued ? get('/slow') + ask('/throws') : ask('/throws'))
        if (ask === last) await client.all()
        else await client.until(/\/throws$/)
        if (ask === get) {
          client.write(last('/next'))
          await client.all()
        }
        assert.deepEqual(client.text.match(/^\/\w+(?=HTTP|$)/gm), ['/slow', '/throws', '/next'].slice(isQueued ? 0 : 1, ask === get ? 3 : 2))
        // It comes to the caller of end(); a queued response has none any more, and it is no error of another request.
        assert.deepEqual([errors, uncaught.map(({ message }) => message)], isQueued ? [[], ['on purpose']] : [['on purpose'], []])
      })
    }
  }
})

describe('lib/front', () => {
  it('should emit events of the app only by call.js, which catches what listeners throw', () => {
    const root = path.join(__dirname, '../../../lib/front')
    const emitting = fs.readdirSync(root, { recursive: true })
      .filter(file => file.endsWith('.js') && /^(?!.*calls\.emit| +\*).*\.emit\(/m.test(fs.readFileSync(path.join(root, file), 'utf8')))
    assert.deepEqual(emitting, ['call.js'])
  })
})
