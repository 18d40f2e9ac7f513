'use strict'

/*
 * Hello world, or as many bytes as are named, in the language of Node 0.8.
 */

var http = require('http')

function textOf (bytes) {
  return bytes ? new Array(Number(bytes) + 1).join('C') : 'Hello World\n'
}

function hello (app, args) {
  var body = textOf(args[0])
  return app.use(function (ctx) {
    ctx.set('Content-Type', 'text/plain')
    ctx.body = body
  })
}

exports.node = {
  start: function (args) {
    var body = textOf(args[0])
    return http.createServer(function (req, res) {
      res.writeHead(200, { 'Content-Type': 'text/plain' })
      res.end(body)
    })
  }
}

exports.koa = {
  package: 'koa',
  start: function (args) {
    return hello(new (require('koa'))(), args)
  }
}

exports.kone = {
  package: 'kone',
  start: function (args) {
    return hello(new (require('../../lib/servers/kone')('.'))(), args)
  }
}
