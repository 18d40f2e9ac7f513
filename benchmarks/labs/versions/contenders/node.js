'use strict'

var http = require('http')

exports.text = function (bytes) {
  return bytes ? new Array(Number(bytes) + 1).join('C') : 'Hello World\n'
}

exports.start = function (args) {
  var body = exports.text(args[0])
  return http.createServer(function (req, res) {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.end(body)
  })
}
