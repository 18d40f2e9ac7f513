'use strict'

// Handlers throw errors. One middleware makes responses of them, and one listener logs them.
const Kone = require('kone')

const app = new Kone()

app.use(async (ctx, next) => {
  try {
    await next()
  } catch (err) {
    if (!ctx.path.startsWith('/api/')) throw err // kone responds in plain text, for a 500 without the message
    ctx.status = err.status || 500
    ctx.body = { error: err.expose ? err.message : 'something went wrong', field: err.field }
    ctx.app.emit('error', err, ctx)
  }
})

app.use(ctx => {
  if (ctx.path.endsWith('/name')) {
    ctx.assert(ctx.query.name, 400, 'name required', { field: 'name' })
    ctx.body = { name: ctx.query.name }
  }
  if (ctx.path.endsWith('/crash')) JSON.parse('not JSON')
})

app.on('error', (err, ctx) => {
  if (!err.expose) console.error('%s %s: %s', ctx.method, ctx.url, err.message)
})

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
