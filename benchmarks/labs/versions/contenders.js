'use strict'

/*
 * Hello world, or as many bytes as are named, in the language of Node 0.8.
 */

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

function node (args) {
  var body = textOf(args[0])
  return require('http').createServer(function (req, res) {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.end(body)
  })
}

function koa (args) {
  return hello(new (require('koa'))(), args)
}

function kone (args) {
  return hello(new (require('../../lib/servers/kone')('.'))(), args)
}

module.exports = { node: { start: node }, koa: { package: 'koa', start: koa }, kone: { package: 'kone', start: kone } }
