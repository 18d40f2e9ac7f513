'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const onFinished = require('on-finished')

const Kone = require('../../helpers/kone')
const { sideBySide } = require('../../packages/side-by-side')
const { get, isNodes, talk } = require('./sides')

/*
 * Apps that replace methods of the application, as egg does: what their code gets, what clients get and the order of events
 * are those of Koa, and the front has every connection.
 */

const EVENTS = { req: ['end', 'aborted', 'error', 'close'], res: ['prefinish', 'finish', 'close'] }

const sees = (req, res) => [
  req instanceof http.IncomingMessage, res instanceof http.ServerResponse, req.method, req.url, res.req === req, res.headersSent
]

/** As egg: a chain of its own objects for each request. */
function createContext (app, log) {
  app.createContext = function (req, res) {
    log('createContext', ...sees(req, res))
    const [ctx, request, response] = ['context', 'request', 'response'].map(name => Object.create(this[name]))
    for (const one of [ctx, request, response]) Object.assign(one, { app: this, req, res })
    Object.assign(request, { ctx, response, originalUrl: req.url })
    Object.assign(response, { ctx, request })
    return Object.assign(ctx, { request, response, originalUrl: req.url, state: {} })
  }
}

/** As egg: events of its own around Koa's method. */
function handleRequest (app, log) {
  const { handleRequest } = app
  app.handleRequest = function (ctx, fn) {
    const { req, res } = ctx
    log('handleRequest', ...sees(req, res), Object.keys(ctx).sort(), ctx.response.res === res, ctx.status)
    onFinished(res, err => log('response', ctx.status, err?.code))
    for (const [name, events] of Object.entries(EVENTS)) for (const event of events) ctx[name].on(event, () => log(name, event))
    return handleRequest.call(this, ctx, fn)
  }
}

/** Without Koa's: it sends every response itself. */
function sendItself (app, log) {
  app.handleRequest = async function (ctx, fn) {
    ctx.res.statusCode = 404
    onFinished(ctx.res, err => log('sent', err?.code))
    try {
      await fn(ctx)
      const { body, res } = ctx
      if (typeof body?.pipe === 'function') body.pipe(res)
      else if (ctx.method === 'HEAD' || typeof body !== 'object') res.end(body)
      else res.end(JSON.stringify(body))
    } catch (err) {
      log('failed', err.message)
      ctx.onerror(err)
    }
  }
}

function callback (app, log) {
  const { callback } = app
  app.callback = function () {
    const listener = callback.call(this)
    return (req, res) => {
      log('listener', ...sees(req, res))
      if (req.url === '/own') return res.writeHead(201, { 'X-Own': 'a' }).end('own')
      res.setHeader('X-Callback', 'b')
      return listener(req, res)
    }
  }
}

/** Node keeps a server that other code creates with a listener of its own. */
const isElsewhere = process.env.KONE_FRONT === 'callback'

const exchanges = { 'what the app itself sends': [['GET /own'], ['POST /own', {}, 'body'], ['GET /']] }

for (const [title, ...replace] of [
  ['createContext and handleRequest', createContext, handleRequest], ['handleRequest', handleRequest],
  ['handleRequest by one that sends itself', sendItself], ...isElsewhere ? [] : [['callback', callback]]
]) {
  sideBySide(`an app that replaces ${title}`, { set (app, { log }) { for (const fn of replace) fn(app, log) }, exchanges })
}

describe('code that replaces a method of the application', () => {
  for (const which of ['an app', 'the class']) {
    for (const name of ['createContext', 'handleRequest', ...isElsewhere ? [] : ['callback']]) {
      it(`should get node's objects, on the front and in app.fetch(): ${name} of ${which}`, async t => {
        const app = new Kone()
        app.use(ctx => { ctx.body = 'hello' })
        const seen = []
        const target = which === 'an app' ? app : Kone.prototype
        const own = Object.getOwnPropertyDescriptor(target, name)
        const method = target[name]
        const note = (req, res) => seen.push(sees(req, res))
        target[name] = function (...args) {
          const result = method.apply(this, args)
          if (name !== 'callback') note(...name === 'createContext' ? args : [args[0].req, args[0].res])
          return name !== 'callback' ? result : (req, res) => { note(req, res); return result(req, res) }
        }
        t.after(() => own ? Object.defineProperty(target, name, own) : delete target[name])
        const server = app.listen(0, '127.0.0.1')
        t.after(() => server.close())
        await once(server, 'listening')
        const accepted = once(server, 'connection')
        const client = await talk(server.address().port, get('/'))
        await client.until(/hello$/)
        const [socket] = await accepted
        assert.equal(isNodes(socket), false)
        client.destroy()
        assert.equal(await (await app.fetch(new Request('http://a/fetched'))).text(), 'hello')
        assert.deepEqual(seen, ['/', '/fetched'].map(url => [true, true, 'GET', url, true, false]))
      })
    }
  }
})
