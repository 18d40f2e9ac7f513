'use strict'

const kone = require('../../lib/kone')
const serve = require('../../lib/serve')
const Kone = kone('.')

const app = new Kone()
app.use(ctx => { ctx.body = 'Hello World' })

serve(app)
