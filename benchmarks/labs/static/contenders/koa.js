'use strict'

const Koa = require('koa')
const files = require('koa-static')
const serve = require('../../../lib/servers/serve')

const app = new Koa()
app.use(files(process.argv[2]))

serve(app)
