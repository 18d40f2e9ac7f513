'use strict'

const http = require('node:http')

exports.protocol = 'http'
exports.codec = 'JSON'

exports.start = function () {
  const { calls, codecs, read } = require('../service/routes')

  return http.createServer((req, res) => {
    if (req.url === '/') return send(res, 200, 'text/plain; charset=utf-8', 'hello world')
    respond(req, res).catch(() => send(res, 500, 'text/plain; charset=utf-8', 'Internal Server Error'))
  })

  async function respond (req, res) {
    const type = req.headers['content-type']
    const codec = codecs.get(type)
    const method = calls.get(req.url)
    const args = codec.decode(await read(req))
    send(res, 200, type, codec.encode(await method(...args)))
  }
}

function send (res, status, type, body) {
  res.statusCode = status
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', Buffer.byteLength(body))
  res.end(body)
}
