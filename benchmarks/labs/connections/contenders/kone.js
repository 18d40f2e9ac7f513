'use strict'

const kone = require('../../../lib/servers/kone')
const serve = require('../../../lib/servers/serve')
const Kone = kone('.')

const app = new Kone()
app.use(ctx => { ctx.body = 'Hello World' })

serve(app)
