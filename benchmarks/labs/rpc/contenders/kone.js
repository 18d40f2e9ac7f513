'use strict'

const kone = require('../../../lib/servers/kone')
const serve = require('../../../lib/servers/serve')
const hessian = require('./hessian')
const { ping, parse, noError, asyncError } = require('./methods')
const Kone = kone('.')
const rpc = kone('middleware/rpc')
const isolate = kone('middleware/isolate')

const codecs = [hessian]
const app = new Kone()
app.silent = true
app.use((ctx, next) => {
  if (ctx.path !== '/') return next()
  ctx.body = 'hello world'
})
app.use(rpc({ ping, parse, noError }, { codecs }))
app.use(isolate())
app.use(rpc({ noError, asyncError }, { prefix: '/guarded', codecs }))

serve(app)
