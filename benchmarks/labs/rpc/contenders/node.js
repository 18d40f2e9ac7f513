'use strict'

const http = require('node:http')
const serve = require('../../../lib/servers/serve')
const { calls, codecs, read } = require('./routes')

serve(http.createServer((req, res) => {
  if (req.url === '/') return send(res, 200, 'text/plain; charset=utf-8', 'hello world')
  answer(req, res).catch(() => send(res, 500, 'text/plain; charset=utf-8', 'Internal Server Error'))
}))

async function answer (req, res) {
  const type = req.headers['content-type']
  const codec = codecs.get(type)
  const method = calls.get(req.url)
  const args = codec.decode(await read(req))
  send(res, 200, type, codec.encode(await method(...args)))
}

function send (res, status, type, body) {
  res.statusCode = status
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', Buffer.byteLength(body))
  res.end(body)
}
