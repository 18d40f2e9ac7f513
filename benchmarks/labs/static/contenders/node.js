'use strict'

const http = require('node:http')

exports.about = 'node:http writing a buffer'

// The least that node:http can do: no condition, no range, no look at the disk.
exports.start = function ([root]) {
  const files = require('./_files')(root)
  return http.createServer((req, res) => {
    const body = files.get(req.url)
    res.statusCode = body ? 200 : 404
    res.setHeader('Content-Type', 'text/html; charset=utf-8')
    res.setHeader('Content-Length', body ? body.length : 0)
    res.end(body)
  })
}
