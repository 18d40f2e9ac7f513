'use strict'

/*
 * The contenders of 2017, in the language of Node 6: no `node:` prefix, and functions that return promises for async ones.
 */

const http = require('http')
const take = require('../../lib/servers/take-2017')

const five = use => { for (let i = 0; i < 5; i++) use() }

function koa () {
  const app = new (take('koa'))()
  five(() => app.use((ctx, next) => next()))
  return app.use(ctx => {
    ctx.body = 'Hello World'
    return Promise.resolve()
  })
}

module.exports = {
  'express-4.14.1': {
    package: 'express',
    start () {
      const app = take('express')()
      five(() => app.use((req, res, next) => next()))
      return app.use((req, res) => { res.type('text').send('Hello World') })
    }
  },

  'koa-2.0.1': { package: 'koa', start: koa },

  'koa-2.0.1-bluebird': {
    package: 'koa',
    start () {
      global.Promise = take('bluebird')
      return koa()
    }
  },

  // No middleware: the floor.
  node: {
    start: () => http.createServer((req, res) => {
      res.setHeader('Content-Type', 'text/plain; charset=utf-8')
      res.setHeader('Content-Length', 11)
      res.end('Hello World')
    })
  },

  'toa-2.6.8': {
    package: 'toa',
    start () {
      const app = new (take('toa'))()
      five(() => app.use(() => Promise.resolve()))
      app.use(function () {
        this.body = 'Hello World'
        return Promise.resolve()
      })
      return app
    }
  },

  'trek-engine-0.5.3': {
    package: 'trek-engine',
    start () {
      const app = new (take('trek-engine'))()
      five(() => app.use((ctx, next) => next()))
      app.use(ctx => {
        ctx.res.type = 'text/plain; charset=utf-8'
        ctx.res.body = 'Hello World'
        return Promise.resolve()
      })
      return (port, host) => app.run(port, host)
    }
  }
}
