'use strict'

// Responses that are produced while they are sent: a file, a generator, the response of a fetch.
const fs = require('node:fs')
const { Readable } = require('node:stream')
const { setTimeout } = require('node:timers/promises')
const Kone = require('kone')

const app = new Kone()

app.use(async ctx => {
  if (ctx.path === '/source') {
    ctx.type = 'js'
    ctx.body = fs.createReadStream(__filename)
  }
  if (ctx.path === '/ticks') {
    ctx.type = 'text'
    ctx.body = Readable.from(ticks(5))
  }
  if (ctx.path === '/again') {
    ctx.body = await fetch(`http://localhost:${port}/ticks`) // status, headers and body
  }
})

async function * ticks (n) {
  for (let i = 1; i <= n; i++) {
    yield `tick ${i}\n`
    await setTimeout(20)
  }
}

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
