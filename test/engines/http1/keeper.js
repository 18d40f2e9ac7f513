'use strict'

/**
 * A server in a process of its own, whose memory is measured: it keeps what `{ keep: 'path' }` names, of every request.
 *
 *    node --expose-gc keeper.js front
 */

const http = require('node:http')
const { setImmediate: turn } = require('node:timers/promises')
const Router = require('@koa/router')

const [side] = process.argv.slice(2)
const Kone = side === 'koa' ? require('koa') : require('../../helpers/kone')
const { setUp } = require('./sides')

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

const app = new Kone()
const router = new Router()
if (side === 'front, ctx.res touched') app.use((ctx, next) => ctx.req && ctx.res && next())
router.all('/:first/:second', ctx => {
  kept.push(KEPT[keeping](ctx))
  ctx.body = 'kept'
})
app.use(router.routes())

const server = http.createServer()
if (side === 'koa') server.on('request', app.callback())
else setUp(server, app, side !== 'node:http')
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

process.on('message', async what => {
  if (what.keep !== undefined) keeping = what.keep
  // what belongs to Buffers goes a turn later
  for (let i = 0; i < 2; i++) {
    global.gc()
    await turn()
  }
  process.send({ kept: kept.length, ...process.memoryUsage() })
})
