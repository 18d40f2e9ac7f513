'use strict'

const http = require('node:http')

exports.about = 'writeHead() with an array, the form that costs node:http least'

exports.start = () => http.createServer((req, res) => {
  res.writeHead(200, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '11'])
  res.end('Hello World')
})
