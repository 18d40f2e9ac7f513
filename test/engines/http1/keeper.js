'use strict'

/**
 * A server in a process of its own, for clients that may end it or fill its memory; wire.js starts it and asks.
 *
 *    node --expose-gc hostile.js front page '{"size":100000}'
 */

const http = require('node:http')
const { PassThrough } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const Router = require('@koa/router')

const [side, name, options] = process.argv.slice(2)
const Kone = side === 'koa' ? require('koa') : require('../../helpers/kone')
const { setUp } = require('./sides')
const { size, type } = JSON.parse(options)

const stats = { handled: 0, sent: 0, lost: 0, twice: 0, errors: [] }
const streams = []
const kept = []
let keeping = 'nothing'

const KEPT = {
  nothing: () => null,
  path: ctx => ctx.path,
  url: ctx => ctx.url,
  "a query's value": ctx => ctx.query.value,
  'a parameter': ctx => ctx.params.second,
  'ctx.get()': ctx => ctx.get('X-Value'),
  'a value of ctx.headers': ctx => ctx.headers['x-value'],
  'a cookie': ctx => ctx.cookies.get('value')
}

const APPS = {
  /** The same page for everybody; '/stream' goes on until 'release'. */
  page (app) {
    const page = type === 'Buffer' ? Buffer.alloc(size, 'x') : 'x'.repeat(size)
    app.use(ctx => { ctx.body = ctx.path === '/stream' ? stream() : page })
  },

  /** Keeps what `{ keep: 'path' }` names, of every request. */
  keeper (app) {
    const router = new Router()
    router.all('/:first/:second', ctx => {
      kept.push(KEPT[keeping](ctx))
      ctx.body = 'kept'
    })
    app.use(router.routes())
  }

}

function stream () {
  const body = new PassThrough()
  body.write('begun')
  streams.push(body)
  return body
}

const app = new Kone()
app.on('error', err => stats.errors.push(err.code ?? err.message))
if (side === 'front, ctx.res touched') app.use((ctx, next) => ctx.req && ctx.res && next())
app.use((ctx, next) => {
  stats.handled++
  if (typeof ctx.onFinished === 'function') {
    let calls = 0
    ctx.onFinished(err => {
      if (++calls > 1) stats.twice++
      else if (err) stats.lost++
      else stats.sent++
    })
  }
  return next()
})
APPS[name](app)

const server = http.createServer()
if (side === 'koa') server.on('request', app.callback())
else setUp(server, app, side !== 'node:http')
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

process.on('message', async what => {
  if (what.keep !== undefined) keeping = what.keep
  if (what === 'release') for (const body of streams.splice(0)) body.end()
  // what belongs to Buffers goes a turn later
  for (let i = 0; i < 2; i++) {
    global.gc()
    await turn()
  }
  process.send({ ...stats, kept: kept.length, ...process.memoryUsage() })
})
