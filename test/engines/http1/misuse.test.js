'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { PassThrough, Readable, pipeline } = require('node:stream')
const zlib = require('node:zlib')

const Kone = require('../../helpers/kone')
const { get, talk } = require('./sides')

/*
 * What an app or a package does with ctx.req and ctx.res, run on the front and on node:http. The bytes, the events
 * and their order, and what is thrown have to be the same.
 */

const { IncomingMessage, ServerResponse } = http
const TURN = () => new Promise(resolve => setImmediate(resolve))

/** Runs `fn` and notes what it throws: node's code, or the message of an error of the app. */
function attempt (log, name, fn) {
  try {
    const value = fn()
    log.push([name, typeof value === 'object' || typeof value === 'function' ? typeof value : value])
  } catch (err) {
    log.push([name, 'threw', err.code ?? err.message])
  }
}

function watch (log, res) {
  for (const name of ['prefinish', 'finish', 'close', 'error', 'drain', 'pipe']) {
    res.on(name, value => log.push([name, value?.code, res.headersSent, res.writableEnded, res.finished, res.destroyed]))
  }
}

/** Each gets the context, a log, and `res`, whose events are in the log. */
const BY_HAND = {
  'ends twice with callbacks': (ctx, log, res) => {
    res.end('once', err => log.push(['first', err?.code]))
    res.end(err => log.push(['second', err?.code]))
  },
  'writes more than it declared': (ctx, log, res) => {
    res.strictContentLength = true
    res.setHeader('Content-Length', 2)
    attempt(log, 'end', () => res.end('four'))
    ctx.socket.destroy()
  },
  'patches methods that throw': (ctx, log, res) => {
    for (const name of ['writeHead', 'setHeader', '_implicitHeader', 'end']) {
      res[name] = () => { throw new Error(`from ${name}`) }
      attempt(log, name, () => name === 'setHeader' ? res.setHeader('A', 'b') : res.end('x'))
      delete res[name]
    }
    res.end('after all')
  },
  'patches methods': (ctx, log, res) => {
    for (const name of ['writeHead', 'setHeader', 'getHeader', '_implicitHeader', 'write', 'end', 'emit']) {
      const own = res[name]
      res[name] = function (...args) {
        log.push(['called', name])
        return own.apply(this, args)
      }
    }
    res.setHeader('X-A', 'b')
    res.end('patched')
  },
  'changes the prototype': (ctx, log, res) => {
    res.setHeader('X-Before', '1')
    Object.setPrototypeOf(res, Object.create(ServerResponse.prototype))
    Object.setPrototypeOf(ctx.req, Object.create(IncomingMessage.prototype))
    res.setHeader('X-After', '2')
    log.push([res.getHeaderNames(), res.getHeader('X-Before'), res.hasHeader('X-Before')])
    log.push([res.req === ctx.req, res.req.url])
    res.removeHeader('x-before')
    res.end('changed')
  },
  'changes the prototype of ctx.res alone': (ctx, log, res) => {
    Object.setPrototypeOf(res, Object.create(ServerResponse.prototype))
    log.push([res.getHeader('X-Before'), res.req === ctx.req, res.req instanceof IncomingMessage])
    res.end('changed')
  },
  ...Object.fromEntries(Object.entries({
    'gets a constant property': res => Object.defineProperty(res, 'locals', { value: {} }),
    'gets a constant property of the name of a field': res => Object.defineProperty(res, 'x-own', { value: {} }),
    'gets no more properties': Object.preventExtensions
  }).map(([what, change]) => [`sets fields of a ctx.res that ${what}`, (ctx, log, res) => {
    res.setHeader('X-Own', 'a')
    change(res)
    for (const name of ['getHeaderNames', 'getRawHeaderNames', 'getHeaders']) attempt(log, name, () => String(Object.entries(res[name]())))
    for (const name of ['appendHeader', 'setHeader']) attempt(log, name, () => res[name]('X-Own', 'b') === res)
    res.setHeader('Connection', 'close')
    attempt(log, 'end', () => res.end('changed'))
  }])),
  "calls node's own methods": (ctx, log, res) => {
    res.setHeader('X-Own', 'a')
    ServerResponse.prototype.setHeader.call(res, 'X-Node', 'b')
    res.setHeader('X-Own', 'c')
    log.push([res.getHeader('X-Own'), res.getHeader('X-Node'), ServerResponse.prototype.getHeaderNames.call(res)])
    ServerResponse.prototype.removeHeader.call(res, 'X-Own')
    ServerResponse.prototype.end.call(res, "node's own")
  },
  'assigns its request': (ctx, log, res) => {
    const { req } = res
    res.req = { url: '/other' }
    log.push([res.req.url, ctx.req === req, req.url])
    res.end('assigned')
  },
  ...Object.fromEntries(Object.entries({
    'in the tick of its last chunk': () => [Readable.from(['one']), new PassThrough()],
    'in a later tick': () => [Readable.from(['a'.repeat(300000)]), zlib.createGzip(), zlib.createGunzip()]
  }).map(([when, streams]) => [`pipes a stream that ends ${when}`, async (ctx, log, res) => {
    await new Promise(resolve => pipeline(...streams(), res, err => {
      log.push(['piped', err?.code])
      resolve()
    }))
  }])),
  'pipes a stream by pipe()': (ctx, log, res) => { Readable.from(['pi', 'ece']).pipe(res) },
  'reads values of the end': async (ctx, log, res) => {
    const state = () => log.push([
      res.statusCode, res.statusMessage, res.headersSent, res.writableEnded, res.writableFinished, res.finished,
      res.destroyed, res.closed, res.writable, res.writableLength, res.writableCorked, res.chunkedEncoding,
      res.socket === null, res._header === null ? null : res._header.replace(/Date: .*/, '')
    ])
    state()
    res.setHeader('X-A', 'b')
    res.end('state')
    state()
    await TURN()
    state()
  }
}

/** Each sets a body; what is in the log comes later. */
const BY_KONE = {
  'patches methods, and kone responds': (ctx, log) => {
    for (const name of ['writeHead', 'setHeader', 'end']) {
      const own = ctx.res[name]
      ctx.res[name] = function (...args) {
        log.push(['called', name])
        return own.apply(this, args)
      }
    }
    ctx.set('X-Set', '1')
  },
  'touches ctx.res early': (ctx, log) => { watch(log, ctx.res) },
  'touches ctx.req early': (ctx, log) => {
    const { req } = ctx
    for (const name of ['end', 'close', 'aborted']) req.on(name, () => log.push([name, req.complete, req.destroyed]))
  },
  'touches ctx.req through ctx.res': (ctx, log) => {
    const { req } = ctx.res
    for (const name of ['end', 'close', 'aborted']) req.on(name, () => log.push([name, req.complete, req.destroyed]))
    log.push([req === ctx.req, req.res === undefined, req.socket === ctx.socket])
  },
  'touches ctx.res late': async (ctx, log) => {
    await TURN()
    ctx.res.setHeader('X-Late', '1')
    watch(log, ctx.res)
  },
  'touches both after the end': (ctx, log) => {
    ctx.onFinished(() => setImmediate(() => {
      const { req, res } = ctx
      log.push([res.headersSent, res.writableEnded, res.writableFinished, res.destroyed, res.finished])
      log.push([res.req === req, req.complete, req.aborted])
      attempt(log, 'set', () => res.setHeader('A', 'b'))
      attempt(log, 'write', () => res.write('more', err => log.push(['called', err?.code])))
      res.on('error', err => log.push(['error', err.code]))
    }))
  },
  'sets fields on both sides': (ctx, log) => {
    ctx.set('X-Ctx', '1')
    ctx.res.setHeader('X-Res', '2')
    ctx.set('X-Ctx-Again', ['3', '4'])
    ctx.remove('X-Res')
    ctx.append('X-Ctx', '5')
    log.push([ctx.response.headers, ctx.res.getHeaders()].map(all => ({ ...all })))
  }
}

const BODIES = { none: '', small: 'a=b', large: 'x'.repeat(100000) }

async function run (http1, scenario, request) {
  const app = new Kone({ http1 })
  app.silent = true
  const log = []
  app.use(async (ctx, next) => {
    if (ctx.path === '/next') return (ctx.body = 'next')
    ctx.onFinished(finished)
    await next()
  })
  let finished
  const isFinished = new Promise(resolve => { finished = resolve })
  scenario(app, log)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const client = await talk(server.address().port, request)
    await Promise.race([isFinished, new Promise(resolve => setTimeout(resolve, 1000))])
    for (let i = 0; i < 8; i++) await TURN()
    await new Promise(resolve => setTimeout(resolve, 15))
    // Bytes behind a request that closes may reset the connection before a long response has arrived.
    if (!request.includes('Connection: close')) client.write(get('/next', 'Connection: close\r\n'))
    const text = await client.all()
    return { text: text.replace(/\r\nDate: [^\r]+/g, '\r\nDate: now'), log }
  } finally {
    server.closeAllConnections()
    server.close()
    if (server.listening) await once(server, 'close')
  }
}

describe('a response of the front', () => {
  const BODIES = {
    'a string': ctx => ctx.res.end('text'),
    'a Buffer': ctx => ctx.res.end(Buffer.from('bytes')),
    'chunks of text': ctx => ['grüße', '☃', 'é'].forEach(part => ctx.res.write(part)) ?? ctx.res.end(),
    'a stream': ctx => { Readable.from(['a', Buffer.alloc(4096), 'x'.repeat(20000)]).pipe(ctx.res) }
  }
  for (const [what, send] of Object.entries(BODIES)) {
    it(`should be one write when it is ${what}`, async () => {
      let writes = 0
      await run(true, app => app.use(ctx => {
        ctx.respond = false
        ctx.status = 200
        const { socket } = ctx
        for (const name of ['_write', '_writev']) {
          socket[name] = function (data, ...rest) {
            if (data.length > 0) writes++
            return Object.getPrototypeOf(this)[name].call(this, data, ...rest)
          }
        }
        ctx.res.on('close', () => {
          delete socket._write
          delete socket._writev
        })
        send(ctx)
      }), get('/'))
      assert.equal(writes, 1)
    })
  }
})

describe('what is done with ctx.req and ctx.res', () => {
  after(() => new Promise(resolve => setTimeout(resolve, 10)))

  const byHand = fn => (app, log) => app.use(async ctx => {
    ctx.respond = false
    ctx.status = 200
    const { res } = ctx
    watch(log, res)
    await fn(ctx, log, res)
  })
  const byKone = fn => (app, log) => app.use(async ctx => {
    await fn(ctx, log)
    ctx.body = 'the body'
  })
  const all = [
    ...Object.entries(BY_HAND).map(([name, fn]) => [name, byHand(fn)]),
    ...Object.entries(BY_KONE).map(([name, fn]) => [name, byKone(fn)])
  ]

  // Node 26.12 asserts that a response that has finished still has its request (resOnFinish).
  const [major, minor] = process.versions.node.split('.').map(Number)
  const fails = major === 26 && minor >= 12 ? ['assigns its request'] : []

  for (const [name, scenario] of all.filter(([name]) => !fails.includes(name))) {
    it(`should be the same on both sides when an app ${name}`, async () => {
      for (const request of [get('/'), get('/').replace('GET', 'HEAD'), get('/', 'Connection: close\r\n')]) {
        assert.deepEqual(await run(true, scenario, request), await run(false, scenario, request), request)
      }
    })

    it(`should be the same with a request body when an app ${name}`, async () => {
      for (const [size, body] of Object.entries(BODIES)) {
        const request = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        assert.deepEqual(await run(true, scenario, request), await run(false, scenario, request), size)
      }
    })
  }
})
