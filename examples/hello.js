'use strict'

const Kone = require('kone')

const app = new Kone()

app.use(ctx => { ctx.body = 'Hello World' })

app.listen(process.env.PORT || 3000)
