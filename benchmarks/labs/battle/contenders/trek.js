'use strict'

const Engine = require('trek-engine')
const serve = require('../../../lib/servers/serve')

const app = new Engine()
for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
app.use(async ctx => {
  ctx.res.type = 'text/plain; charset=utf-8'
  ctx.res.body = 'Hello World'
})

serve((port, host) => app.run(port, host))
