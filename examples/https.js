'use strict'

// HTTPS: the app on a server of node:https, with the certificate of the PEM files KEY and CERT, or one for localhost.
const https = require('node:https')
const Kone = require('kone')
const certificate = require('./certificate')

const app = new Kone()
app.use(ctx => { ctx.body = { protocol: ctx.protocol, secure: ctx.secure, url: ctx.href } })

certificate().then(({ key, cert }) => {
  const server = app.attach(https.createServer({ key, cert }))
  server.listen(process.env.PORT || 3000, () => {
    console.log(`https://localhost:${server.address().port}`)
  })
})
