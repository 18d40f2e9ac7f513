'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { PassThrough } = require('node:stream')
const { describe, it } = require('node:test')

const openapi = require('../../middleware/openapi')
const session = require('../../middleware/session')
const Kone = require('../helpers/kone')
const request = require('../helpers/request')

/*
 * Wrong arguments of the methods that Koa lacks, and of the options of the constructor: each throws or rejects with a
 * sentence that names the option, and the app serves on.
 */

const NO_NUMBER = ['5000', '10s', '', NaN, -1, null, true, [], {}, () => {}]
const NO_OBJECT = [5, 'soon', true, Symbol('a'), () => {}]
const inside = read => async app => {
  app.use(read)
  const { status } = await app.inject({ method: 'POST', url: '/', body: 'ab' })
  if (status === 500) throw app.thrown
}

/** [call, what the message names, wrong values] */
const TABLE = [
  [(app, timeout) => app.close({ timeout }), 'app.close(): options.timeout must be', NO_NUMBER],
  [(app, grace) => app.close({ grace }), 'app.close(): options.grace must be', NO_NUMBER],
  [(app, name) => app.close({ [name]: 5000 }), 'app.close(): options.', ['timeOut', 'drain', '__proto__ ']],
  [(app, options) => app.close(options), 'app.close(): options must be', NO_OBJECT],
  [(app, server) => app.attach(server), 'app.attach(server)', [undefined, null, ...NO_OBJECT, {}, [], new PassThrough()]],
  [(app, what) => app.inject(what), 'app.inject(request)', [undefined, null, 5, true, Symbol('a'), () => {}]],
  [(app, url) => app.inject({ url }), 'app.inject(): options.url must be', ['', 'a', 'http://a/', '?a', null, 5, {}]],
  [(app, method) => app.inject({ method }), 'app.inject(): options.method must be', [5, null, {}, true]],
  [(app, headers) => app.inject({ headers }), 'app.inject(): options.headers must be', [5, 'a: b', true]],
  [(app, body) => app.inject({ method: 'POST', body }), 'app.inject(): options.body must be',
    [5, true, () => {}, Symbol('a'), new ArrayBuffer(1), new Blob(['a']), new FormData(), new URLSearchParams('a'), new Map(), new PassThrough()]],
  [(app, engine) => app.inject({ engine }), 'app.inject(): options.engine must be', ['http2', '', 'toString', null, 5]],
  [(app, name) => app.inject({ [name]: '/' }), 'app.inject(): options.', ['uri', 'path', 'Headers']],
  [(app, fn) => app.final(fn), 'app.final(fn)', [undefined, null, 5, {}, function * () {}]],
  [(app, what) => app.fetch(what), 'app.fetch(request)', [undefined, null, 5, '/', 'http://a/', {}, { url: 'http://a/' }, new URL('http://a/')]],
  [(app, fn) => inside(ctx => ctx.onFinished(fn))(app), 'ctx.onFinished(fn)', [undefined, null, 5, {}]],
  [(app, limit) => inside(ctx => ctx.request.readBody({ limit }))(app), 'request.readBody(): options.limit must be', NO_NUMBER],
  [(app, options) => inside(ctx => ctx.request.readBody(options))(app), 'request.readBody(): options must be', [5, '1mb', true]],
  [(app, name) => inside(ctx => ctx.request.readBody({ [name]: 5 }))(app), 'request.readBody(): options.', ['limits', 'Limit']],
  [(app, first) => openapi(first), 'openapi: the first argument', [undefined, null, 5, {}, []]],
  [(app, options) => openapi(app, options), 'openapi: options', NO_OBJECT],
  [(app, maxAge) => {
    app.use(session())
    return inside(ctx => { ctx.sessionHandler.maxAge = maxAge })(app)
  }, 'session: maxAge', NO_NUMBER],
  [(app, keys) => new Kone({ keys }), 'options.keys', [[1], ['a', undefined], [null], [{}], [], 'a', {}, 5]],
  [(app, maxIpsCount) => new Kone({ maxIpsCount }), 'options.maxIpsCount', NO_NUMBER.filter(value => value !== null)],
  [(app, subdomainOffset) => new Kone({ subdomainOffset }), 'options.subdomainOffset', NO_NUMBER.filter(value => value !== null)]
]

describe('wrong arguments', () => {
  it('should be named in an error, and change nothing', async t => {
    const app = new Kone()
    app.silent = true
    app.on('error', err => { app.thrown = err })
    app.use((ctx, next) => ctx.path === '/alive' ? (ctx.body = 'alive') : next())
    const server = app.listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { middleware } = app

    for (const [call, name, values] of TABLE) {
      for (const value of values) {
        await assert.rejects(async () => call(app, value), err => {
          assert(err instanceof TypeError && err.message.includes(name), `${name} of ${String(value)}: ${err.stack}`)
          return true
        }, `${name} takes ${String(value)}`)
        middleware.length = 1
      }
    }
    assert.equal((await request(server.address().port, 'GET /alive')).text, 'alive')
    assert.equal(app.finals.length, 0)
  })

  it('should be fine where they are left out, and at their limits', async () => {
    const app = new Kone({ keys: ['a', Buffer.from('b')], maxIpsCount: 0, subdomainOffset: 1 })
    app.use(async ctx => { ctx.body = await ctx.request.readBody({ limit: Infinity }) })
    const bodies = ['a', Buffer.from('a'), new Uint8Array([97]), null, undefined, {}, Object.create(null), [], new Date(0), new (class A {})()]
    for (const body of bodies) assert.equal((await app.inject({ method: 'POST', url: undefined, headers: null, body })).status, 200)
    for (const options of [undefined, null, 'SIGTERM', {}, { timeout: 0 }, { timeout: Infinity, grace: undefined }]) await app.close(options)
  })

  it('should be named by the demo, which would listen on a socket of that name', () => {
    const file = path.join(__dirname, '../../examples/app')
    const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', env: { ...process.env, PORT: 'abc' }, timeout: 60_000 })
    assert.equal(status, 1)
    assert.match(stderr, /PORT must be a number, not abc/)
  })
})
