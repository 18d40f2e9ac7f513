'use strict'

const serve = require('../../../lib/servers/serve')
const Koa = require(process.argv.includes('--koa3') ? 'koa3' : 'koa')

const app = new Koa()
for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
app.use(async ctx => { ctx.body = 'Hello World' })

serve(app)
