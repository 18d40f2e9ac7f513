'use strict'

/**
 * The tables of the reference, sentence by sentence. Tables of another test: the error codes (pages.test.js), deployment
 * (pages.test.js), create (create.long.test.js), the cluster's commands and times (test/cluster), types (test/types), tested
 * packages (runs-unchanged.test.js).
 */

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { tracingChannel } = require('node:diagnostics_channel')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const Koa = require('koa')
const mount = require('koa-mount')
const Kone = require('kone')
const client = require('kone/client')
const { ask, ends, seen, serve, table, uses } = require('../helpers/tables')
const until = require('../helpers/until')

const ROOT = path.join(__dirname, '../..')
const forwarded = (...hops) => ({ headers: { 'x-forwarded-for': hops.join(', ') } })
const ipOf = (options, ...hops) => seen(Kone, ctx => ctx.ip, { options, ...forwarded(...hops) })
const fresh = () => new Kone()
const nothing = () => { } // a middleware that responds nothing: 404

table('docs/api/application.md', '## new Kone([options])', {
  '`env`': () => {
    const before = process.env.NODE_ENV
    try {
      process.env.NODE_ENV = 'staging'
      assert.equal(fresh().env, 'staging')
      delete process.env.NODE_ENV
      assert.equal(fresh().env, 'development')
    } finally {
      if (before !== undefined) process.env.NODE_ENV = before
    }
    assert.equal(new Kone({ env: 'x' }).env, 'x')
  },
  '`keys`': async () => {
    assert.equal(fresh().keys, undefined)
    for (const keys of [['k'], new (require('keygrip'))(['k'])]) {
      const { headers } = await ends(Kone, ctx => { ctx.cookies.set('a', 'b', {}); ctx.body = '' }, { options: { keys } })
      assert.match(headers['set-cookie'][1], /^a\.sig=/)
    }
  },
  '`proxy`': async value => {
    assert.equal(String(fresh().proxy), value.replaceAll('`', ''))
    assert.equal(await ipOf({ proxy: true }, '192.0.2.7'), '192.0.2.7')
  },
  '`proxyIpHeader`': value => assert.equal(`'${fresh().proxyIpHeader}'`, value.replaceAll('`', '')),
  '`maxIpsCount`': async value => {
    assert.equal(fresh().maxIpsCount, parseInt(value.replaceAll('`', '')))
    const ips = maxIpsCount => seen(Kone, ctx => ctx.ips, { options: { proxy: true, maxIpsCount }, ...forwarded('1.1.1.1', '2.2.2.2', '3.3.3.3') })
    assert.deepEqual(await ips(0), ['1.1.1.1', '2.2.2.2', '3.3.3.3'])
    assert.deepEqual(await ips(2), ['2.2.2.2', '3.3.3.3'])
  },
  '`subdomainOffset`': async value => {
    assert.equal(String(fresh().subdomainOffset), value.replaceAll('`', ''))
    const host = { headers: { host: 'a.b.example.com' } }
    assert.deepEqual(await seen(Kone, ctx => ctx.subdomains, host), ['b', 'a'])
    assert.deepEqual(await seen(Kone, ctx => ctx.subdomains, { ...host, options: { subdomainOffset: 3 } }), ['a'])
  },
  '`asyncLocalStorage`': async () => {
    assert.equal(fresh().currentContext, undefined)
    for (const asyncLocalStorage of [true, new AsyncLocalStorage()]) {
      assert.equal(await seen(Kone, ctx => ctx.app.currentContext === ctx, { options: { asyncLocalStorage } }), true)
    }
  },
  '`compose`': async () => {
    const given = []
    const compose = list => { given.push(list.length); return Kone.compose(list) }
    await ends(Kone, nothing, { options: { compose } })
    assert.deepEqual([...new Set(given)], [1])
  },
  '`Promise`': () => {
    const Bluebird = require('bluebird')
    assert.ok(new Kone({ Promise: Bluebird }).use(nothing).inject('/') instanceof Bluebird)
    assert.ok(fresh().inject('/') instanceof Promise)
  },
  '`http1`': async value => {
    const isNodes = options => seen(Kone, ctx => ctx.outgoing instanceof http.ServerResponse, { options })
    assert.deepEqual([String(fresh().http1), await isNodes({}), await isNodes({ http1: false })], [value.replaceAll('`', ''), false, true])
  }
})

table('docs/api/application.md', '## app.close([options])', {
  '`timeout`': async () => {
    const app = new Kone().use(() => new Promise(() => {}))
    const server = await serve(app)
    const req = http.get({ port: server.address().port }).on('error', () => {})
    await until(() => new Promise(resolve => server.getConnections((none, count) => resolve(count > 0))))
    await app.close({ timeout: 50, grace: 0 })
    await until(() => req.destroyed)
  },
  '`grace`': async () => {
    const app = new Kone().use(ctx => { ctx.body = 'hi' })
    const { port } = (await serve(app)).address()
    const agent = new http.Agent({ keepAlive: true })
    const get = () => new Promise((resolve, reject) => http.get({ port, agent }, res => res.resume().on('end', () => resolve(res.headers.connection))).on('error', reject))
    await get()
    await new Promise(resolve => setImmediate(resolve)) // the agent has the connection again
    const closed = app.close({ grace: 5000 })
    assert.equal(await get(), 'close')
    await closed
    agent.destroy()
  }
})

const injected = (request, options) => new Kone(options).use(async ctx => {
  ctx.body = { method: ctx.method, url: ctx.url, host: ctx.get('Host'), type: ctx.get('Content-Type'), body: String(await ctx.request.readBody()) }
}).inject(request).then(res => res.json())

table('docs/api/application.md', '## app.inject(request)', {
  '`method`': async value => assert.equal(`\`'${(await injected({})).method}'\``, value),
  '`url`': async () => {
    assert.equal((await injected({})).url, '/')
    assert.equal((await injected('/a')).url, '/a')
  },
  '`headers`': async value => assert.equal(`\`Host: ${(await injected({})).host}\``, value),
  '`body`': async () => {
    const body = async body => (await injected({ method: 'POST', body })).body
    assert.deepEqual([await body(), await body('a'), await body(Buffer.from('b')), await body({ c: 1 })], ['', 'a', 'b', '{"c":1}'])
    assert.match((await injected({ method: 'POST', body: {} })).type, /json/)
  },
  '`engine`': async () => {
    const engine = engine => new Kone().use(ctx => {
      ctx.body = ctx.outgoing instanceof http.ServerResponse ? 'node' : ctx.outgoing.constructor.name
    }).inject({ engine }).then(res => res.text())
    assert.equal(await engine(undefined), await engine('http1'))
    assert.equal(await engine('node'), 'node')
    assert.notEqual(await engine('fetch'), 'node')
  }
})

table('docs/api/application.md', '## app.proxy', {
  '`false`': async () => assert.equal(await ipOf({ proxy: false }, '192.0.2.7'), '127.0.0.1'),
  '`true`': async () => {
    for (const App of [Koa, Kone]) assert.equal(await seen(App, ctx => ctx.ip, { options: { proxy: true }, ...forwarded('6.6.6.6', '192.0.2.7') }), '6.6.6.6')
  },
  '`2`': async () => assert.equal(await ipOf({ proxy: 2 }, '6.6.6.6', '192.0.2.7', '10.0.0.1'), '192.0.2.7'),
  "`['127.0.0.1', '10.0.0.0/8']`": async () => {
    const proxy = ['127.0.0.1', '10.0.0.0/8']
    assert.equal(await ipOf({ proxy }, '6.6.6.6', '192.0.2.7', '10.0.0.1'), '192.0.2.7')
    assert.equal(await ipOf({ proxy: [...proxy, '2001:db8::/32'] }, '192.0.2.7', '2001:db8::1'), '192.0.2.7')
    const many = n => ipOf({ proxy }, '192.0.2.7', ...Array(n).fill('10.0.0.1'))
    assert.equal(await many(31), '192.0.2.7')
    assert.equal(await many(32), '10.0.0.1')
  }
})

table('docs/api/application.md', '## Further settings', {
  '`app.env`': () => assert.equal(typeof fresh().env, 'string'),
  '`app.silent`': () => {
    const app = fresh()
    const printed = []
    const { error } = console
    try {
      console.error = text => printed.push(text)
      for (const silent of [true, false]) Object.assign(app, { silent }).onerror(new Error(`silent is ${silent}`))
    } finally {
      console.error = error
    }
    assert.equal(printed.length > 0 && printed.every(text => !text.includes('silent is true')), true)
  },
  '`app.proxyIpHeader`, `app.maxIpsCount`, `app.subdomainOffset`': async () => {
    const { text } = await ask(Kone, app => {
      Object.assign(app, { proxy: true, proxyIpHeader: 'X-Real', maxIpsCount: 1, subdomainOffset: 1 })
      app.use(ctx => { ctx.body = [...ctx.ips, ...ctx.subdomains].join() })
    }, { headers: { 'x-real': '1.1.1.1, 2.2.2.2', host: 'a.example' } })
    assert.equal(text, '2.2.2.2,a')
  },
  '`app.http1`': async () => {
    const app = new Kone().use(ctx => { ctx.body = String(ctx.outgoing instanceof http.ServerResponse) })
    const url = `http://127.0.0.1:${(await serve(app)).address().port}`
    const get = async () => (await fetch(url, { headers: { connection: 'close' } })).text()
    const before = await get()
    app.http1 = false
    assert.deepEqual([before, await get()], ['false', 'true'])
    await app.close({ grace: 0 })
  },
  '`app.middleware`, `app.finals`': () => {
    const [a, b, c] = [() => {}, () => {}, () => {}]
    const app = fresh().use(a).use(b).final(c)
    assert.deepEqual([app.middleware, app.finals], [[a, b], [c]])
  }
})

const sent = []
const api = (base, options) => client(base, { fetch: async request => { sent.push(request); return new Response() }, ...options })
const requested = async (path, options) => {
  await api('http://a', { headers: { 'x-base': '1' } }).post(path, options)
  return sent.at(-1)
}

table('docs/api/client.md', '## What a request has', {
  '`params`': async () => {
    assert.equal((await requested('/:id', { params: { id: 'a/b c' } })).url, 'http://a/a%2Fb%20c')
    assert.equal((await requested('/:id', { params: { id: 7 } })).url, 'http://a/7')
    for (const path of ['/:p*', '/:p+', '/:p(.*)']) assert.equal((await requested(path, { params: { p: 'a/b' } })).url, 'http://a/a/b', path)
  },
  '`query`': async () => assert.equal((await requested('/', { query: { a: [1, 2], b: undefined, c: 'd' } })).url, 'http://a/?a=1&a=2&c=d'),
  '`body`': async () => {
    for (const body of [{ a: 1 }, [1]]) {
      const request = await requested('/', { body })
      assert.match(request.headers.get('content-type'), /^application\/json/)
      assert.deepEqual(await request.json(), body)
    }
    const others = ['text', new FormData(), new URLSearchParams('a=b'), new Blob(['b']), Buffer.from('c'), new Blob(['d']).stream()]
    for (const body of others) assert.doesNotMatch((await requested('/', { body, duplex: 'half' })).headers.get('content-type') ?? '', /json/)
  },
  '`headers`': async () => {
    const { headers } = await requested('/', { headers: { 'x-own': '2' } })
    assert.deepEqual([headers.get('x-base'), headers.get('x-own')], ['1', '2'])
  },
  others: async () => {
    const { signal } = new AbortController()
    const request = await requested('/', { signal, credentials: 'omit' })
    assert.equal(request.credentials, 'omit')
  }
})

const finals = setup => ask(Kone, app => {
  app.final(ctx => { ctx.set('X-Final', 'ran') })
  setup(app)
})

table('docs/api/compose-and-final.md', '## app.final(fn)', {
  'a final throws, or its promise rejects': async () => {
    for (const fails of [() => { throw new Error('x') }, async () => { throw new Error('x') }]) {
      let later = false
      const { status } = await ask(Kone, app => { app.use(ctx => { ctx.body = 'a' }); app.final(fails); app.final(() => { later = true }) })
      assert.deepEqual([status, later], [500, false])
    }
  },
  'the onion ended in an error': async () => {
    const { status, headers } = await finals(app => app.use(() => { throw new Error('x') }))
    assert.deepEqual([status, headers['x-final']], [500, undefined])
  },
  '`ctx.respond === false`, or the headers are sent': async () => {
    for (const handler of [ctx => { ctx.respond = false; ctx.res.end('a') }, ctx => { ctx.respond = undefined; ctx.res.writeHead(200); ctx.res.end() }]) {
      assert.equal((await finals(uses(handler))).headers['x-final'], undefined)
    }
  },
  'the app is mounted in another by koa-mount': async () => {
    const inner = new Kone().use(ctx => { ctx.body = 'inner' }).final(ctx => { ctx.body = 'final' })
    assert.equal((await ask(Kone, uses(mount('/', inner)))).text, 'inner')
  }
})

const cookie = async (options, request) =>
  (await ends(Kone, ctx => { ctx.cookies.set('name', 'a', options); ctx.body = '' }, request)).headers['set-cookie']
const attributes = async options => (await cookie({ signed: false, ...options }))[0].toLowerCase()

table('docs/api/context.md', '## ctx.cookies', {
  '`maxAge`': async () => {
    const expires = /expires=([^;]+)/.exec(await attributes({ maxAge: 3600e3 }))[1]
    const until = Date.parse(expires) - Date.now()
    assert.ok(until > 3500e3 && until <= 3600e3)
  },
  '`expires`': async () => {
    assert.doesNotMatch(await attributes(), /expires/)
    assert.match(await attributes({ expires: new Date(0) }), /expires=thu, 01 jan 1970/)
  },
  '`path`': async value => {
    assert.ok((await attributes()).includes(`path=${value.replaceAll('`', '')};`))
    assert.match(await attributes({ path: '/a' }), /path=\/a/)
  },
  '`domain`': async () => {
    assert.doesNotMatch(await attributes(), /domain/)
    assert.match(await attributes({ domain: 'a.example' }), /domain=a\.example/)
  },
  '`secure`': async () => {
    assert.doesNotMatch(await attributes(), /secure/)
    const tls = { options: { proxy: true }, headers: { 'x-forwarded-proto': 'https' } }
    assert.match((await cookie({ signed: false }, tls))[0], /secure/i)
    assert.equal((await ends(Kone, ctx => ctx.cookies.set('a', 'b', { secure: true }))).status, 500)
  },
  '`httpOnly`': async () => {
    assert.match(await attributes(), /httponly/)
    assert.doesNotMatch(await attributes({ httpOnly: false }), /httponly/)
  },
  '`sameSite`': async () => {
    assert.doesNotMatch(await attributes(), /samesite/)
    for (const sameSite of ['strict', 'lax', 'none']) assert.match(await attributes({ sameSite }), new RegExp(`samesite=${sameSite}`))
  },
  '`signed`': async () => assert.match((await cookie({ signed: true }, { options: { keys: ['k'] } }))[1], /^name\.sig=/),
  '`overwrite`': async () => {
    const twice = async overwrite => (await ends(Kone, ctx => {
      for (const value of ['a', 'b']) ctx.cookies.set('name', value, { signed: false, overwrite })
      ctx.body = ''
    })).headers['set-cookie'].length
    assert.deepEqual([await twice(false), await twice(true)], [2, 1])
  },
  '`priority`': async () => {
    assert.doesNotMatch(await attributes(), /priority/)
    for (const priority of ['low', 'medium', 'high']) assert.match(await attributes({ priority }), new RegExp(`priority=${priority}`))
  },
  '`partitioned`': async () => {
    assert.doesNotMatch(await attributes(), /partitioned/)
    assert.match(await attributes({ partitioned: true }), /partitioned/)
  }
})

const fetched = (handler, request = new Request('http://localhost/'), options = {}) => {
  const app = new Kone(options)
  app.silent = true
  return app.use(handler).fetch(request)
}

table('docs/api/fetch.md', '## What differs from a request over a socket', {
  'the target': async () =>
    assert.equal(await (await fetched(ctx => { ctx.body = ctx.url }, new Request('http://localhost/a/../b'))).text(), '/b'),
  'repeated header fields': async () => {
    const headers = new Headers([['x-a', '1'], ['x-a', '2']])
    assert.equal(await (await fetched(ctx => { ctx.body = ctx.get('x-a') }, new Request('http://localhost/', { headers }))).text(), '1, 2')
  },
  "length of a request's body": async () => {
    const look = async ctx => { ctx.body = [ctx.get('Transfer-Encoding'), ctx.get('Content-Length')].join() }
    const post = headers => new Request('http://localhost/', { method: 'POST', body: 'abc', headers })
    assert.equal(await (await fetched(look, post())).text(), 'chunked,')
    assert.equal(await (await fetched(look, post({ 'content-length': '3' }))).text(), ',3')
  },
  'fields of the connection': async names => {
    const response = await fetched(ctx => { ctx.body = Readable.from(['a']) })
    for (const [, name] of names.matchAll(/`([\w-]+)`/g)) assert.equal(response.headers.get(name), null, name)
  },
  status: async () => {
    for (const status of [200, 511]) assert.equal((await fetched(ctx => { ctx.status = status; ctx.body = '' })).status, status)
    assert.equal((await fetched(ctx => { ctx.status = 100; ctx.body = '' })).status, 500)
    await assert.rejects(fetched(ctx => { ctx.respond = false; ctx.res.writeHead(100 + 600); ctx.res.end() }))
  },
  'trailers, 1xx, upgrades': () => assert.equal(new Response().trailers, undefined),
  promise: () => assert.equal(fetched(nothing, undefined, { Promise: require('bluebird') }).constructor, Promise)
})

const message = async (handler, after = () => {}) => {
  const channel = tracingChannel('kone:request')
  const events = []
  let message
  const on = event => data => { message = data; events.push(event) }
  const subscribers = { start: on('start'), end: on('end'), error: on('error'), asyncStart: on('asyncStart'), asyncEnd: on('asyncEnd') }
  channel.subscribe(subscribers)
  const app = new Kone()
  app.silent = true
  try {
    await app.use(handler(events)).inject('/')
  } finally {
    channel.unsubscribe(subscribers)
  }
  return { app, message, events, after }
}

table('docs/api/observability.md', '## The channel', {
  '`ctx`': async () => assert.equal((await message(() => nothing)).message.ctx.path, '/'),
  '`app`': async () => {
    const { app, message: data } = await message(() => nothing)
    assert.equal(data.app, app)
  },
  '`error`': async () => {
    assert.equal((await message(() => nothing)).message.error, undefined)
    assert.ok((await message(() => () => { throw 'text' })).message.error instanceof Error) // eslint-disable-line no-throw-literal
  }
})

table('docs/api/observability.md', '## The channel', {
  '`start`': async () => assert.deepEqual((await message(events => () => { events.push('middleware') })).events.slice(0, 2), ['start', 'middleware']),
  '`end`': async () => {
    const { events } = await message(events => async () => { await null; events.push('later') })
    assert.ok(events.indexOf('end') < events.indexOf('later'))
  },
  '`error`': async () => {
    const { events, message: data } = await message(() => ctx => ctx.throw(404))
    assert.ok(events.includes('error'))
    assert.equal(data.ctx.status, 404)
  },
  '`asyncStart`, `asyncEnd`': async () => assert.deepEqual((await message(() => nothing)).events, ['start', 'end', 'asyncStart', 'asyncEnd'])
}, 1)

const typed = async (body, type) => (await ends(Kone, ctx => { if (type) ctx.type = type; ctx.body = body() })).headers['content-type']

table('docs/api/response.md', '### response.body', {
  string: async () => {
    assert.deepEqual([await typed(() => '<b>'), await typed(() => 'b'), await typed(() => '<b>', 'text/css')],
      ['text/html; charset=utf-8', 'text/plain; charset=utf-8', 'text/css; charset=utf-8'])
  },
  Buffer: async () => assert.deepEqual([await typed(() => Buffer.from('a')), await typed(() => Buffer.from('a'), 'png')], ['application/octet-stream', 'image/png']),
  'stream, or web `ReadableStream`': async () => {
    for (const body of [() => Readable.from(['a']), () => new Blob(['a']).stream()]) {
      assert.deepEqual([await typed(body), await typed(body, 'png')], ['application/octet-stream', 'image/png'])
    }
  },
  '`Blob`': async () => {
    const blob = type => () => new Blob(['a'], { type })
    assert.deepEqual([await typed(blob('text/css')), await typed(blob('')), await typed(blob('text/css'), 'png')],
      ['text/css; charset=utf-8', 'application/octet-stream', 'image/png'])
  },
  'fetch `Response`': async () => {
    const { status, headers } = await ends(Kone, ctx => { ctx.type = 'png'; ctx.body = new Response('a', { status: 203, headers: { 'x-a': '1' } }) })
    assert.deepEqual([status, headers['x-a'], headers['content-type']], [203, '1', 'text/plain;charset=UTF-8'])
  },
  'any other value': async () => {
    assert.equal(await typed(() => ({ a: 1 }), 'png'), 'application/json; charset=utf-8')
    const { headers } = await ends(Kone, ctx => { ctx.body = { a: 1 }; ctx.type = 'application/problem+json' })
    assert.equal(headers['content-type'], 'application/problem+json')
  },
  '`null`': async () => {
    const { status, headers } = await ends(Kone, ctx => { ctx.type = 'png'; ctx.body = null })
    assert.deepEqual([status, headers['content-type']], [204, undefined])
    const later = await ends(Kone, ctx => { ctx.body = null; ctx.status = 401 })
    assert.deepEqual([later.text, later.headers['content-length']], ['', '0'])
  },
  '`undefined`': async () => {
    const { status, headers } = await ends(Kone, ctx => { ctx.type = 'png'; ctx.body = undefined })
    assert.deepEqual([status, headers['content-type']], [204, undefined])
    const later = await ends(Kone, ctx => { ctx.body = undefined; ctx.status = 401 })
    assert.deepEqual([later.text, later.headers['content-type']], ['Unauthorized', 'text/plain; charset=utf-8'])
  }
})

const layers = async App => (await ask(App, app => {
  for (let i = 0; i < 10000; i++) app.use((ctx, next) => next())
  app.use(ctx => { ctx.body = 'reached' })
})).status

table('docs/api/koa.md', '# Koa and kone side by side', {
  'API: app, ctx, request, response, middleware': async () => {
    const namesOf = one => Object.getOwnPropertyNames(Object.getPrototypeOf(one))
    const members = ({ context, request, response }) => [context, request, response].map(namesOf)
    const [theirs, ours] = [members(new Koa()), members(new Kone())]
    for (const [i, names] of theirs.entries()) assert.deepEqual(names.filter(name => !name.startsWith('_') && !ours[i].includes(name)), [])
    for (const body of [() => new Blob(['a']), () => new Blob(['a']).stream(), () => new Response('a')]) {
      assert.equal((await ends(Kone, ctx => { ctx.body = body() })).text, 'a')
    }
    assert.deepEqual(['back' in fresh().context, 'currentContext' in fresh(), 'back' in new Koa().context], [true, true, false])
  },
  '`app.listen()`': async () => {
    for (const App of [Koa, Kone]) assert.equal((await serve(new App())).constructor, http.Server)
  },
  'accessors of ctx': () => {
    const needs = name => Object.keys(require(`${name}/package.json`).dependencies)
    assert.deepEqual([needs('koa').includes('delegates'), needs('kone').includes('delegates')], [true, false])
  },
  middleware: async () => assert.deepEqual([await layers(Koa), await layers(Kone)], [500, 200]),
  'after the onion': () => assert.deepEqual(['final' in new Koa(), 'final' in fresh(), 'onFinished' in fresh().context], [false, true, true]),
  promises: () => assert.ok(new (require('kone/bluebird'))().inject('/') instanceof require('bluebird')),
  stopping: () => assert.deepEqual(['close' in new Koa(), 'close' in fresh()], [false, true]),
  testing: () => assert.deepEqual(['inject' in fresh(), 'fetch' in fresh()], [true, true]),
  'Bun, Deno': () => {}, // test/engines/fetch/runtimes.once.long.test.js
  command: () => assert.deepEqual([require('koa/package.json').bin, require('kone/package.json').bin], [undefined, { kone: 'command/index.js' }]),
  'trust in proxies': async () => {
    for (const proxy of [1, ['127.0.0.1'], true]) assert.equal(await ipOf({ proxy }, '192.0.2.7'), '192.0.2.7')
    assert.equal(await ipOf({ proxy: false }, '192.0.2.7'), '127.0.0.1')
  },
  'middleware set': async () => {
    const { router: Router, requestId, helmet } = require('kone/middleware')
    const router = new Router().get('/', ctx => { ctx.body = 'hi' })
    const { text, headers } = await ask(Koa, uses(requestId(), helmet(), router.routes()))
    assert.deepEqual([text, Boolean(headers['x-request-id'])], ['hi', true])
  },
  'packages installed': () => {} // test/consumers/package/package.long.test.js
})

describe('docs/guide/ecosystem.md', () => {
  it('should name only packages that are tested', () => {
    const { list } = require('../../tools/runs-unchanged')
    const tested = new Set(list().map(({ name }) => name))
    const rows = fs.readFileSync(path.join(ROOT, 'docs/guide/ecosystem.md'), 'utf8').split('\n').filter(line => line.startsWith('| ')).slice(2)
    const named = rows.flatMap(row => [...row.split(' | ')[1].matchAll(/`([@\w/.-]+)`/g)].map(([, name]) => name))
    assert.ok(named.length > 40)
    assert.deepEqual(named.filter(name => !tested.has(name)), [])
  })
})

describe('the READMEs of lib', () => {
  const filesIn = (folder, options) => fs.readdirSync(path.join(ROOT, folder), options).filter(name => name.endsWith('.js'))
  const named = page => fs.readFileSync(path.join(ROOT, page), 'utf8').split('\n')
    .flatMap(line => /^\| ((?:`[\w./-]+`\s?)+)\|/.exec(line)?.[1].match(/[\w./-]+\.js/g) ?? []).sort()

  it('should have a row for each file, and for no other', () => {
    const folders = ['', 'core', 'shared', 'engines'].map(name => filesIn(`lib/${name}`))
    const files = [...folders.flat(), ...filesIn('lib/engines/objects').map(name => `objects/${name}`)]
    assert.deepEqual(named('lib/README.md'), files.sort())
    assert.deepEqual(named('lib/front/README.md'), filesIn('lib/front', { recursive: true }).sort())
  })
})
