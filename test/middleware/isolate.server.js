'use strict'

/*
 * An app with isolate in a process of its own, for isolate.places.test.js: `/way` fails as `query.way` says, at the time that
 * `query.when` says, `/place` where `query.place` says. `/next` is what comes later. By messages it gives what it has noted.
 */

const { AsyncLocalStorage } = require('node:async_hooks')
const crypto = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const { PassThrough, Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const zlib = require('node:zlib')

const Kone = require('kone')
const isolate = require('kone/middleware/isolate')

const failed = new AsyncLocalStorage()
const errors = []
const seen = []
const begun = []

const boom = () => { throw new Error('boom') }
const never = () => new Promise(() => {})

/** How code can throw outside of a request's promises, at any time. */
const WAYS = {
  tick: () => process.nextTick(boom),
  microtask: () => queueMicrotask(boom),
  timer: () => setTimeout(boom, 1),
  interval: () => { const timer = setInterval(() => { clearInterval(timer); boom() }, 1) },
  immediate: () => setImmediate(boom),
  rejection: () => { Promise.reject(new Error('boom')) },
  'callback of fs': () => fs.stat(__filename, boom),
  'callback of crypto': () => crypto.randomBytes(8, boom),
  'listener of an EventTarget': () => {
    const target = new EventTarget()
    target.addEventListener('x', boom)
    target.dispatchEvent(new Event('x'))
  },
  'a file that is missing': () => fs.createReadStream(`${__filename}.missing`),
  'a socket without a peer': () => net.connect({ host: '127.0.0.1', port: 1 }),
  'an http client without a peer': () => http.get({ host: '127.0.0.1', port: 1 }),
  'zlib that gets no gzip': () => zlib.createGunzip().end('no gzip')
}

/** When → the handler. */
const TIMES = {
  before: (ctx, way) => new Promise(() => way()),
  during (ctx, way) {
    ctx.body = new PassThrough()
    ctx.body.write('half')
    setTimeout(way, 5)
  },
  after (ctx, way) {
    ctx.body = 'whole'
    ctx.onFinished(way)
  }
}

const LARGE = Buffer.alloc(4e6, 'x')

/** A stream whose read() does `fn` at its nth call, and gives a chunk at each before. */
function reads (n, fn) {
  let count = 0
  return new Readable({
    read () {
      if (++count === n) fn(this)
      else if (count < n) this.push(Buffer.alloc(20000, 'x'))
    }
  })
}

function pulls (n, fn) {
  let count = 0
  return new ReadableStream({
    pull (controller) {
      if (++count < n) return controller.enqueue(new Uint8Array(20000))
      fn()
      return never()
    }
  }, { highWaterMark: 0 })
}

/** The code of a response that throws, where it can be nowhere else → the handler. */
const PLACES = {
  'ctx.onFinished': ctx => {
    ctx.body = 'whole'
    ctx.onFinished(boom)
  },
  'a tick of ctx.onFinished': ctx => {
    ctx.body = 'whole'
    ctx.onFinished(() => process.nextTick(boom))
  },
  "res 'finish'": ctx => {
    ctx.body = 'whole'
    ctx.res.on('finish', boom)
  },
  "a timer of res 'finish'": ctx => {
    ctx.body = 'whole'
    ctx.res.on('finish', () => setTimeout(boom, 1))
  },
  "res 'close'": ctx => {
    ctx.body = 'whole'
    ctx.res.on('close', boom)
  },
  "req 'close'": ctx => {
    ctx.body = 'whole'
    ctx.req.on('close', boom).resume()
  },
  "req 'data'": ctx => {
    ctx.req.on('data', boom)
    return never()
  },
  "a tick of req 'data'": ctx => {
    ctx.req.on('data', () => process.nextTick(boom))
    return never()
  },
  "req 'end'": ctx => {
    ctx.req.on('end', boom).resume()
    return never()
  },
  "req 'aborted'": ctx => {
    ctx.req.on('aborted', boom).on('error', () => {})
    return never()
  },
  'req.setTimeout': ctx => {
    ctx.req.setTimeout(5, boom)
    return never()
  },
  'res.setTimeout': ctx => {
    ctx.res.setTimeout(5, boom)
    return never()
  },
  'callback of res.write': ctx => {
    ctx.res.write('half', boom)
    return never()
  },
  'callback of res.end': ctx => {
    ctx.respond = false
    ctx.res.end('whole', boom)
  },
  "res 'drain'": ctx => {
    ctx.res.on('drain', boom)
    ctx.res.write(LARGE)
    return never()
  },
  'first read() of a body': ctx => { ctx.body = reads(1, boom) },
  'timer of the first read() of a body': ctx => { ctx.body = reads(1, () => setTimeout(boom, 1)) },
  'tick of the first read() of a body': ctx => { ctx.body = reads(1, () => process.nextTick(boom)) },
  'rejection of the first read() of a body': ctx => { ctx.body = reads(1, () => { Promise.reject(new Error('boom')) }) },
  'fourth read() of a body': ctx => { ctx.body = reads(4, boom) },
  'timer of the fourth read() of a body': ctx => { ctx.body = reads(4, () => setTimeout(boom, 1)) },
  'immediate of a read() after many': ctx => { ctx.body = reads(400, () => setImmediate(boom)) },
  'read() of a body that a promise has set': async ctx => {
    await null
    ctx.body = reads(2, () => setTimeout(boom, 1))
  },
  'destroy() of a body': ctx => {
    ctx.body = new Readable({ read () { this.push('whole'); this.push(null) }, destroy () { boom() } })
  },
  'timer of destroy() of a body': ctx => {
    ctx.body = new Readable({
      read () { this.push('whole'); this.push(null) },
      destroy (err, callback) {
        setTimeout(boom, 1)
        callback(err)
      }
    })
  },
  "'data' of a body": ctx => { ctx.body = Readable.from(['half', 'whole']).once('data', boom) },
  "'end' of a body": ctx => { ctx.body = Readable.from(['half', 'whole']).on('end', boom) },
  "'close' of a body": ctx => { ctx.body = Readable.from(['half', 'whole']).on('close', boom) },
  'generator as a body': ctx => {
    ctx.body = Readable.from((async function * () {
      yield 'half'
      boom()
    })())
  },
  'timer of a generator as a body': ctx => {
    ctx.body = Readable.from((async function * () {
      yield 'half'
      setTimeout(boom, 1)
      await never()
    })())
  },
  'pull() of a web stream': ctx => { ctx.body = pulls(2, boom) },
  'timer of pull() of a web stream': ctx => { ctx.body = pulls(2, () => setTimeout(boom, 1)) },
  'timer of pull() of a Response': ctx => { ctx.body = new Response(pulls(2, () => setTimeout(boom, 1))) },
  'cancel() of a web stream': ctx => {
    ctx.body = new ReadableStream({
      async pull (controller) {
        await turn()
        controller.enqueue(new Uint8Array(20000))
      },
      cancel () { setTimeout(boom, 1) }
    })
  },
  'then() of readBody()': ctx => {
    Promise.resolve(ctx.request.readBody()).then(boom)
    return never()
  }
}

const app = new Kone({ http1: process.argv[2] === 'front' })
app.silent = true
app.on('error', (err, ctx) => errors.push({ message: err.message, id: ctx.query.id, store: failed.getStore() ?? null }))
app.use((ctx, next) => {
  if (ctx.path !== '/next') return next()
  seen.push(failed.getStore() ?? null)
  ctx.body = 'next'
})
app.use(isolate())
app.use(ctx => failed.run(ctx.query.id, () => {
  const { id, place, way, when } = ctx.query
  begun.push(id)
  return place === undefined ? TIMES[when](ctx, WAYS[way]) : PLACES[place](ctx)
}))
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, ways: Object.keys(WAYS), times: Object.keys(TIMES), places: Object.keys(PLACES) }))

process.on('message', () => process.send({ begun, errors, seen }))
process.on('disconnect', () => process.exit())
