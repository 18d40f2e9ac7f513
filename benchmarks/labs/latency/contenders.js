'use strict'

const http = require('node:http')
const net = require('node:net')
const { headersOf } = require('../../lib/servers/fixed')
const kone = require('../../lib/servers/kone')
const { send } = require('../../lib/servers/send')

/*
 * Hello world behind five middleware; with the argument `mixed` every hundredth request takes 5 ms of CPU.
 */

const EVERY = 100
const COST = 5 // ms
const TEXT = 'text/plain; charset=utf-8'

const works = {
  hello: () => () => {},
  mixed () {
    let count = 0
    return () => {
      if (++count % EVERY) return
      const until = performance.now() + COST
      while (performance.now() < until);
    }
  }
}

const five = use => { for (let i = 0; i < 5; i++) use() }

function app (framework, work) {
  five(() => framework.use(async (ctx, next) => { await next() }))
  return framework.use(async ctx => {
    work()
    ctx.body = 'Hello World'
  })
}

const started = start => ([workload]) => start(works[workload]())

module.exports = {
  net: {
    about: 'parses nothing, writes the same bytes for every read',
    start: started(work => net.createServer({ noDelay: true }, socket => {
      const response = `${headersOf(TEXT, 11)}Hello World`
      socket.on('error', () => {}).on('data', () => {
        work()
        socket.write(response, 'latin1')
      })
    }))
  },

  // No middleware: the floor.
  node: {
    start: started(work => http.createServer((req, res) => {
      work()
      send(res, TEXT, 'Hello World')
    }))
  },

  kone: { package: 'kone', start: started(work => app(new (kone('.'))(), work)) },

  koa: { package: 'koa', start: started(work => app(new (require('koa'))(), work)) },

  fastify: {
    package: 'fastify',
    start: started(work => {
      const app = require('fastify')()
      five(() => app.addHook('onRequest', async () => {}))
      app.get('/', async () => {
        work()
        return 'Hello World'
      })
      return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
    })
  }
}
