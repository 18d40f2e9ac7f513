'use strict'

// A line of JSON for each request and each error, by pino; lines of one request have its id.
const Kone = require('kone')
const requestId = require('kone/middleware/requestId')
const logs = require('./logs')

const app = new Kone()
app.on('error', logs.error)
app.use(requestId())
app.use(logs)

app.use(ctx => {
  if (ctx.path === '/broken') throw new Error('out of order')
  ctx.state.log.info({ greeted: ctx.query.name }, 'hello')
  ctx.body = 'Hello'
})

const server = app.listen(process.env.PORT || 3000, () => console.log(`http://localhost:${server.address().port}`))
