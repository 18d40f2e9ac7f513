'use strict'

// HTTP/2 and HTTP/1.1 on one port, as each client chooses.
const http2 = require('node:http2')
const Kone = require('kone')
const certificate = require('./certificate')

const app = new Kone()
app.use(ctx => { ctx.body = { version: ctx.req.httpVersion, host: ctx.host, secure: ctx.secure } })

// The client chooses HTTP/2 or HTTP/1.1 by ALPN.
certificate().then(({ key, cert }) => {
  const server = app.attach(http2.createSecureServer({ key, cert, allowHTTP1: true }))
  server.listen(process.env.PORT || 3000, () => {
    console.log(`https://localhost:${server.address().port}`)
  })
})

process.once('SIGTERM', () => app.close()) // GOAWAY names the last request that gets a response
