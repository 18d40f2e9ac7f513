'use strict'

// Node 6 and 7 know no `node:` prefix, which is why it is not that of today.
const http = require('http')

// No middleware: the floor.
exports.start = () => http.createServer((req, res) => {
  res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  res.setHeader('Content-Length', 11)
  res.end('Hello World')
})
