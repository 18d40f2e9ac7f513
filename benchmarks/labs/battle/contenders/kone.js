'use strict'

const kone = require('../../../lib/servers/kone')
const serve = require('../../../lib/servers/serve')
const Kone = kone(process.argv.includes('--bluebird') ? 'lib/bluebird' : '.')

const app = new Kone()
for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
app.use(async ctx => { ctx.body = 'Hello World' })

serve(app)
