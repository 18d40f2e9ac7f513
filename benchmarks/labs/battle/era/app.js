'use strict'

/*
 * node battle.js node|koa|toa|trek|express [--bluebird]: hello world behind five middleware, with the packages of
 * 2017 (ERA is their folder). Node 6 has no async functions: middleware are functions that return promises.
 */

const path = require('path')
const serve = require('../../../lib/servers/era/serve')

const take = name => require(path.join(process.env.ERA, name))
const [, , side, bluebird] = process.argv
if (bluebird) global.Promise = take('bluebird')

const pass = (ctx, next) => next()
const five = (app, fn) => {
  for (let i = 0; i < 5; i++) app.use(fn)
  return app
}

const sides = {
  node () {
    serve(require('http').createServer((req, res) => {
      res.setHeader('Content-Type', 'text/plain; charset=utf-8')
      res.setHeader('Content-Length', 11)
      res.end('Hello World')
    }))
  },

  koa () {
    const Koa = take('koa')
    serve(five(new Koa(), pass).use(ctx => {
      ctx.body = 'Hello World'
      return Promise.resolve()
    }))
  },

  toa () {
    const Toa = take('toa')
    const app = five(new Toa(), () => Promise.resolve())
    app.use(function () {
      this.body = 'Hello World'
      return Promise.resolve()
    })
    serve(app)
  },

  trek () {
    const Engine = take('trek-engine')
    const app = five(new Engine(), pass)
    app.use(ctx => {
      ctx.res.type = 'text/plain; charset=utf-8'
      ctx.res.body = 'Hello World'
      return Promise.resolve()
    })
    serve((port, host) => app.run(port, host))
  },

  express () {
    const app = five(take('express')(), (req, res, next) => next())
    app.use((req, res) => { res.type('text').send('Hello World') })
    serve(app)
  }
}

sides[side]()
