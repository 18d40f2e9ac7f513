'use strict'

const http = require('node:http')

// No middleware: the floor.
exports.start = () => http.createServer((req, res) => {
  res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  res.setHeader('Content-Length', 11)
  res.end('Hello World')
})
