'use strict'

const http = require('node:http')
const { Writable } = require('node:stream')
const Koa = require('koa')
const micro = require('../lib/run/micro')
const Kone = require('../lib/servers/kone')('.')

// A whole request through app.callback(), on node's own objects over a socket that swallows: what is left
// when the network is taken away.
const bodies = {
  string: 'Hello World',
  buffer: Buffer.from('Hello World'),
  json: { hello: 'world', list: [1, 2, 3] },
  'no body': null
}

const groups = {}
for (const [kind, body] of Object.entries(bodies)) {
  groups[kind] = { koa: () => send(new Koa(), body), kone: () => send(new Kone(), body) }
}

micro(__filename, groups)

function send (app, body) {
  app.use(ctx => { ctx.body = body })
  const callback = app.callback()
  const socket = new Writable({ write: (chunk, encoding, done) => done() })
  Object.assign(socket, { setTimeout () {}, remoteAddress: '127.0.0.1' })

  return () => {
    const req = new http.IncomingMessage(socket)
    Object.assign(req, { method: 'GET', url: '/', httpVersionMajor: 1, httpVersionMinor: 1, complete: true })
    req.headers = { host: 'localhost' }
    const res = new http.ServerResponse(req)
    res.assignSocket(socket)
    callback(req, res)
    return new Promise(resolve => res.on('finish', resolve)).then(() => res.detachSocket(socket))
  }
}
