'use strict'

/*
 * Hello world, in the language of Node 0.8; node responds with the text of its argument, if there is one.
 */

var HELLO = 'Hello World\n'

function node (args) {
  var body = args[0] || HELLO
  return require('http').createServer(function (req, res) {
    res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': body.length })
    res.end(body)
  })
}

function hello (Framework) {
  return new Framework().use(function (ctx) {
    ctx.set('Content-Type', 'text/plain')
    ctx.body = HELLO
  })
}

module.exports = {
  node: { start: node },
  koa: { package: 'koa', start: function () { return hello(require('koa')) } },
  kone: { package: 'kone', start: function () { return hello(require('../../lib/servers/kone')('.')) } }
}
