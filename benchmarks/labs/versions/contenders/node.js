'use strict'

var http = require('http')
var text = require('./_text')

exports.start = function (args) {
  var body = text(args[0])
  return http.createServer(function (req, res) {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.end(body)
  })
}
