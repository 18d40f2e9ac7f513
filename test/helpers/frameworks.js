'use strict'

const { describe, it: test, after } = require('node:test')
const http = require('node:http')
const { once } = require('node:events')
const { exchange } = require('./engines')
const Kone = require('./kone')
const request = require('./request')
const share = require('./share')

const FRAMEWORKS = {
  'koa 2': () => require('koa'),
  'koa 3': () => require('koa3'),
  'kone on node:http': () => class extends Kone {
    http1 = false
  },
  kone: () => Kone
}

/** One of them runs a suite, the other one with another commit: node:http serves both, and Koa is in the first. */
const TURNS = ['koa 3', 'kone on node:http']

/**
 * Run one suite in koa 2, in kone behind its own front, and in koa 3 or kone behind node:http.
 *
 *    frameworks('requestId', ({ it, ask }) => {
 *      it('should respond', async () => {
 *        assert.equal((await ask([ctx => { ctx.body = 'hi' }], 'GET /')).text, 'hi')
 *      })
 *    })
 *
 * `ask`, `listen` and `wire` take an app, or an array of middleware, which stands for one. An app is listened to at the
 * first request and closed after the suite. `errors` holds what the app emitted as 'error', which is what keeps Koa from
 * printing it. `only` has the names of the frameworks, if others.
 */
module.exports = function frameworks (title, suite, only = ['koa 2', ...share.one(TURNS, title), 'kone']) {
  for (const name of only) {
    describe(`${title} in ${name}`, () => {
      const Koa = FRAMEWORKS[name]()
      const servers = new Map()
      const errors = []

      const listen = app => {
        if (!servers.has(app)) servers.set(app, start(Array.isArray(app) ? appOf(Koa, app) : app, errors))
        return servers.get(app)
      }
      const ask = async (app, line, options) => {
        const { port, agent } = await listen(app)
        return request(port, line, { agent, ...options })
      }
      const wire = async (app, bytes) => exchange((await listen(app)).port, bytes)

      after(() => { for (const started of servers.values()) started.then(stop) })
      suite({ it: test, Koa, ask, listen, wire, errors, name })
    })
  }
}

function appOf (Koa, middleware) {
  const app = new Koa()
  for (const fn of middleware) app.use(fn)
  return app
}

async function start (app, errors) {
  app.on('error', err => errors.push(err))
  const server = app.listen(0, '127.0.0.1')
  if (!server.listening) await once(server, 'listening')
  return { server, port: server.address().port, agent: new http.Agent({ keepAlive: true }) }
}

function stop ({ server, agent }) {
  agent.destroy()
  server.close()
  server.closeAllConnections()
}
