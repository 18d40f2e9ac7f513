'use strict'

const fs = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')

// Its tests are not in its tarball.
const FAULTS = {
  thrown () { throw new Error('thrown <&>') },
  async late () {
    await sleep(5)
    throw new Error('late')
  },
  missing (ctx) { ctx.body = fs.createReadStream('/nothing/is/here') },
  exposed (ctx) { ctx.throw(422, 'shown', { headers: { 'X-Reason': 'a' } }) },
  status () { throw Object.assign(new Error('of no status'), { status: 999 }) },
  text () { throw 'a text' }, // eslint-disable-line no-throw-literal
  object () { throw { status: 409, message: 'an object', headers: { 'X-Reason': 'b' } } }, // eslint-disable-line no-throw-literal
  'set before' (ctx) {
    ctx.set({ 'X-Before': '1', 'Cache-Control': 'no-store' })
    ctx.type = 'json'
    ctx.length = 3
    ctx.throw(400)
  },
  unread (ctx) { ctx.throw(413, 'a body that nobody reads') },
  begun (ctx) {
    ctx.res.write('one ')
    throw new Error('begun')
  }
}

module.exports = {
  title: 'koa-onerror, and an onerror of its own behind it',
  group: 'suites',
  packages: { 'koa-onerror': '5.0.1' },
  responses: 33,

  async serve () {
    const Koa = require('koa')
    const { onerror } = require('koa-onerror')

    const app = new Koa()
    app.on('error', () => {})
    onerror(app)
    const { onerror: responds } = app.context
    app.context.onerror = function (err) {
      const isBegun = this.headerSent
      responds.call(this, err)
      if (err && isBegun) setTimeout(() => this.res.end('and later'), 5) // a response that began before is the app's to end
    }
    app.use(ctx => {
      const fault = decodeURIComponent(ctx.path.slice(1))
      if (fault === '') ctx.body = 'hello'
      return FAULTS[fault]?.(ctx)
    })
    return app.listen(0)
  },

  // A page has the stack.
  mask: text => text.replace(/\\n +at (?:[^"\\]|\\\\)*/g, ''),

  async ask (client) {
    for (const accept of ['text/html', 'application/json', 'text/plain']) {
      for (const fault of Object.keys(FAULTS)) {
        await client.ask(`${fault === 'unread' ? 'POST' : 'GET'} /${encodeURIComponent(fault)}`, { headers: { accept }, ...fault === 'unread' && { body: 'x'.repeat(100000) } })
      }
      await client.ask('GET /', { headers: { accept } })
    }
  }
}
