'use strict'

// A JSON interface without middleware: `readBody` reads what was sent, an object in `ctx.body` is sent as JSON.
const Kone = require('kone')

const app = new Kone()
const notes = []

app.use(async ctx => {
  if (ctx.path !== '/notes') return
  if (ctx.method === 'GET') ctx.body = notes
  if (ctx.method === 'POST') await add(ctx)
})

async function add (ctx) {
  ctx.assert(ctx.is('json'), 415, 'send JSON')
  const bytes = await ctx.request.readBody({ limit: 10240 })
  const note = parse(bytes)
  ctx.assert(typeof note?.text === 'string', 400, 'text required')
  notes.push({ id: notes.length + 1, text: note.text })
  ctx.status = 201
  ctx.set('Location', '/notes')
  ctx.body = notes.at(-1)
}

function parse (bytes) {
  try {
    return JSON.parse(bytes)
  } catch {}
}

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
