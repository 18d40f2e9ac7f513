'use strict'

const Kone = require('kone')

const app = new Kone()

app.use(ctx => { ctx.body = 'Hello World' })

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
