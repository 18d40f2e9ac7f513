'use strict'

/**
 * Serves the built site, by kone.
 *
 *    PORT=4173 node docs/.vitepress/serve.js [folder]
 */

const fs = require('node:fs')
const path = require('node:path')
const Kone = require('../..')
const { compress, static: serve } = require('../../middleware')

const app = new Kone()
const root = process.argv[2] || path.join(__dirname, 'dist')

app.use(compress())
app.use(serve(root, { extensions: ['html'] }))
app.use(ctx => {
  ctx.status = 404
  ctx.type = 'html'
  ctx.body = fs.createReadStream(path.join(root, '404.html'))
})

const server = app.listen(process.env.PORT || 4173, () => {
  console.log(`the documentation: http://localhost:${server.address().port}`)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close({ grace: 0 }))
