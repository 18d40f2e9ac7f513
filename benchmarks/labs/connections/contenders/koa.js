'use strict'

const Koa = require('koa')
const serve = require('../../../lib/servers/serve')

const app = new Koa()
app.use(ctx => { ctx.body = 'Hello World' })

serve(app)
