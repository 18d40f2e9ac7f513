'use strict'

/*
 * An app whose timers are faked: node test/application/fake-timers.js <by> <when>. `GET /close` calls app.close().
 */

const fs = require('node:fs')
const { mock } = require('node:test')
const { Readable } = require('node:stream')
const FakeTimers = require('@sinonjs/fake-timers')
const Kone = require('../helpers/kone')
const { logger, overload, static: serve } = require('kone/middleware')

const [by, when] = process.argv.slice(2)

const LATER = 60_000 // ms, of the fake clock

/** Each returns a function that restores. */
const FAKES = {
  none: () => () => {},
  sinon () {
    const clock = FakeTimers.install({ toNotFake: ['nextTick', 'queueMicrotask'] })
    clock.tick(LATER)
    return () => clock.uninstall()
  },
  'sinon, with nextTick' () {
    const clock = FakeTimers.install()
    clock.tick(LATER)
    return () => clock.uninstall()
  },
  'node:test' () {
    mock.timers.enable()
    mock.timers.tick(LATER)
    return () => mock.timers.reset()
  }
}

const BODIES = {
  '/text': () => 'text',
  '/json': () => ({ json: true }),
  '/stream': () => Readable.from(['a', 'stream']),
  '/file': () => fs.createReadStream(__filename),
  '/read': async ctx => `${(await ctx.request.readBody()).length} bytes`,
  '/iterated': async ctx => `${Buffer.concat(await ctx.req.toArray()).length} bytes`,
  '/inject': async ({ app }) => (await app.inject('/stream')).body,
  '/fetch': async ({ app }) => (await app.fetch(new Request('http://a/stream'))).text(),
  '/error': () => { throw new Error('meant') },
  '/finished': ctx => new Promise(resolve => {
    ctx.onFinished(() => console.log(`finished ${ctx.url}`))
    resolve('text')
  }),
  '/ctx.res': ({ res }) => {
    res.write('a', () => res.end('response'))
    return new Promise(resolve => { res.once('close', resolve) })
  },
  '/close' ({ app }) {
    app.close({ grace: 0 })
    return 'text'
  }
}

if (when === 'before listen()') FAKES[by]()

const app = new Kone({ silent: true })
app.use(logger({ format: ':method :url' }))
app.use(overload({ maxEventLoopDelay: LATER / 2 })) // the clock that is faked would go beyond it, a busy machine not
app.use((ctx, next) => ctx.method === 'GET' && ctx.path === '/static' ? staticFile(ctx, next) : next())
app.use(async (ctx, next) => {
  if (!Object.hasOwn(BODIES, ctx.path)) return next()
  const body = await BODIES[ctx.path](ctx)
  if (ctx.writable) ctx.body = body
})

const files = serve(__dirname, { cacheSize: 0 })
function staticFile (ctx, next) {
  ctx.path = '/fake-timers.js'
  return files(ctx, next)
}

const server = app.listen(0, '127.0.0.1', () => {
  if (when === 'after listen()') FAKES[by]()
  if (when === 'and restored') FAKES[by]()()
  console.log(`http://localhost:${server.address().port}`)
})
Object.assign(server, { keepAliveTimeout: 200, keepAliveTimeoutBuffer: 1 })
