'use strict'

/*
 * node hello.js node|koa|kone [BYTES]: the hello world of the report on all versions of Node, or an answer of
 * that many bytes; in the language of Node 0.8.
 */

var serve = require('../../../lib/servers/era/serve')

var side = process.argv[2]
var bytes = Number(process.argv[3])
var text = bytes ? new Array(bytes + 1).join('C') : 'Hello World\n'

if (side === 'node') {
  serve(require('http').createServer(function (req, res) {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.end(text)
  }))
} else {
  var App = side === 'kone' ? require('../../../lib/servers/kone')('.') : require('koa')
  var app = new App()
  app.use(function (ctx) {
    ctx.set('Content-Type', 'text/plain')
    ctx.body = text
  })
  serve(app)
}
