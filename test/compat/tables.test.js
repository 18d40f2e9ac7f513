'use strict'

/**
 * The tables of MIGRATION.md, sentence by sentence: each row has what makes it true, in both of its columns.
 */

const assert = require('node:assert/strict')
const { createHook } = require('node:async_hooks')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { Readable } = require('node:stream')
const express = require('express')
const Koa = require('koa')
const Koa3 = require('koa3')
const mount = require('koa-mount')
const Kone = require('kone')
const set = require('kone/middleware')
const { Kone3 } = require('../helpers/kone3')
const { ask, ends, seen, serve, table: ofPage, thrown, uses } = require('../helpers/tables')

const { csrf: Csrf, router: Router } = set

const table = (heading, tests) => ofPage('MIGRATION.md', heading, tests)

const form = fields => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(new URLSearchParams(fields)).length },
  body: String(new URLSearchParams(fields))
})

// What a client gets when a middleware throws: a status, nothing, or the end of the process. After a hundred turns of the
// event loop nothing more comes.
function outcome (name, expression) {
  const script = `
    const http = require('node:http')
    const app = new (require(${JSON.stringify(require.resolve(name))}))()
    const end = (...said) => { console.log(...said); process.exit() }
    let emitted = 0
    app.on('error', () => { emitted++ })
    app.use(() => { throw ${expression} })
    const handle = app.callback()
    const server = http.createServer((req, res) => {
      handle(req, res)
      let turns = 0
      const turn = () => ++turns < 100 ? setImmediate(turn) : (res.headersSent && res.statusCode >= 200) || end('hangs')
      turn()
    }).listen(0, () => http.get({ port: server.address().port }, res => end(res.statusCode, emitted)))`
  try {
    return execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch (err) {
    return `ends with ${err.status}`
  }
}

/** What comes on a connection behind the length of the response to `fn`, up to the first line of the next one. */
async function behindFirst (App, fn) {
  const app = new App().use(ctx => ctx.path === '/next' ? (ctx.body = 'next') : fn(ctx))
  const socket = net.connect((await serve(app)).address().port).setEncoding('latin1')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n')
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if (text.endsWith('next')) break
  }
  const [, length] = /content-length: (\d+)/i.exec(text)
  const rest = text.slice(text.indexOf('\r\n\r\n') + 4 + Number(length))
  return rest.slice(0, rest.indexOf('OK') + 2)
}

table('### What is different', {
  '`throw null`, errors with invalid `headers` or with a `status` below 200': (koa, kone) => {
    const errors = ['null', "Object.assign(new Error(), { headers: { 'bad name': 1 } })", 'Object.assign(new Error(), { status: 102 })']
    assert.deepEqual(errors.map(error => outcome('koa', error)), ['hangs', 'ends with 1', 'hangs'])
    assert.deepEqual(errors.map(error => outcome('kone', error)), ['500 1', '500 1', '500 1'])
  },
  '`throw null` in an app with its own `ctx.onerror`': async () => {
    const given = async (App, thrown) => {
      let got
      await ask(App, app => {
        app.context.onerror = function (err) {
          if (err === null && got !== undefined) return
          got = { err }
          this.res.end()
        }
        app.use(() => { throw thrown })
      })
      return got.err
    }
    assert.equal(await given(Koa, null), null)
    assert.ok(await given(Kone, null) instanceof Error)
    for (const App of [Koa, Kone]) assert.equal(await given(App, 'text'), 'text')
  },
  'an error after the app has begun the response by `ctx.res`': async () => {
    const begun = App => ask(App, uses(ctx => {
      ctx.res.writeHead(200)
      ctx.res.write('a')
      setImmediate(() => setImmediate(() => ctx.res.end())) // with which the client of Koa need not wait for ever
      throw new Error('late')
    })).then(({ text }) => text, () => 'closed')
    assert.deepEqual([await begun(Koa), await begun(Kone)], ['a', 'closed'])
    const own = App => ask(App, app => {
      app.context.onerror = function () { setImmediate(() => this.res.end('b')) }
      app.use(ctx => {
        ctx.res.write('a')
        throw new Error('late')
      })
    }).then(({ text }) => text)
    assert.deepEqual([await own(Koa), await own(Kone)], ['ab', 'ab'])
  },
  "`ctx.get('__proto__')`": async (koa, kone) => {
    assert.equal(kone, "`''`")
    assert.deepEqual(await seen(Koa, ctx => typeof ctx.get('__proto__')), 'object')
    assert.equal(await seen(Kone, ctx => ctx.get('__proto__')), '')
  },
  'a Host with a character that no host has, such as a blank or `/`': async () => {
    const junk = { headers: { host: 'a b/c' } }
    assert.equal(await seen(Koa, ctx => ctx.host, junk), 'a b/c')
    assert.equal((await ends(Kone, ctx => { ctx.body = ctx.host }, junk)).status, 400)
  },
  '`ctx.host` of a target that is a whole URL': async () => {
    const target = { url: 'http://b/c', headers: { host: 'a' } }
    assert.deepEqual([await seen(Koa, ctx => ctx.host, target), await seen(Kone, ctx => ctx.host, target)], ['a', 'b'])
  },
  "`ctx.redirect('javascript:…')`": async () => {
    const redirect = ctx => ctx.redirect('javascript:alert(1)')
    assert.equal((await ends(Koa, redirect)).status, 302)
    assert.equal((await ends(Kone, redirect)).status, 500)
  },
  '`ctx.URL` of a target that is a whole URL': async () => {
    const url = App => seen(App, ctx => ctx.URL.href, { url: 'http://b/c', headers: { host: 'a' } })
    assert.notEqual(await url(Koa), 'http://b/c')
    for (const App of [Kone, Koa3]) assert.equal(await url(App), 'http://b/c')
  },
  '`ctx.protocol` with `X-Forwarded-Proto: HTTPS` of a trusted proxy': async () => {
    const protocol = App => seen(App, ctx => ctx.protocol, { options: { proxy: true }, headers: { 'x-forwarded-proto': 'HTTPS' } })
    assert.equal(await protocol(Koa), 'HTTPS')
    for (const App of [Kone, Koa3]) assert.equal(await protocol(App), 'https')
  },
  '`ctx.body = null` with a status such as 401': async () => {
    const keeps = async App => {
      const app = new App().use(ctx => { ctx.body = null; ctx.status = 401 })
      const socket = net.connect((await serve(app)).address().port)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      const [first] = await once(socket, 'data')
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      const [event] = await Promise.race([once(socket, 'data').then(() => ['keeps']), once(socket, 'end').then(() => ['closes'])])
      socket.destroy()
      return [/Content-Length: 0/i.test(first), event]
    }
    assert.deepEqual(await keeps(Koa), [false, 'closes'])
    for (const App of [Kone, Koa3]) assert.deepEqual(await keeps(App), [true, 'keeps'])
  },
  'a wrong `Content-Length` or a `Transfer-Encoding` on ctx, as `ctx.set(upstream.headers)` copies them': async () => {
    const copies = headers => ctx => {
      ctx.body = 'the whole body'
      ctx.set(headers)
    }
    assert.equal(await behindFirst(Koa, copies({ 'content-length': '3' })), ' whole bodyHTTP/1.1 200 OK')
    assert.match(await behindFirst(Koa, copies({ 'transfer-encoding': 'chunked' })), /^ody\r\n0\r\n/)
    for (const headers of [{ 'content-length': '3' }, { 'content-length': '99' }, { 'transfer-encoding': 'chunked' }]) {
      assert.equal(await behindFirst(Kone, copies(headers)), 'HTTP/1.1 200 OK')
    }
  },
  'a stream that is longer than its `Content-Length`': async () => {
    const errors = []
    const longer = ctx => {
      ctx.app.once('error', err => errors.push(err.code))
      ctx.body = Readable.from(['the whole body'])
      ctx.length = 3
    }
    assert.equal(await behindFirst(Koa, longer), ' whole bodyHTTP/1.1 200 OK')
    assert.equal(await behindFirst(Kone, longer), 'HTTP/1.1 200 OK')
    assert.deepEqual(errors, ['KONE_ERR_BODY_LENGTH'])
  },
  'middleware in more than 500 layers': async () => {
    const begun = async App => {
      let count = 0
      let seen
      const layers = Array(600).fill((ctx, next) => {
        const isFirst = count++ === 0
        const promise = next()
        if (isFirst) seen = count
        return promise
      })
      await ask(App, uses(...layers))
      return seen
    }
    assert.equal(await begun(Koa), 600)
    assert.equal(await begun(Kone), 500)

    const layers = Array(10000).fill((ctx, next) => next())
    const many = App => ask(App, uses(...layers, ctx => { ctx.body = 'reached' }))
    assert.equal((await many(Koa)).status, 500)
    assert.equal((await many(Kone)).text, 'reached')
  },
  '`{ ...ctx }` and other copies': async () => {
    const has = ctx => [{ ...ctx }, Object.assign({}, ctx), Object.create(ctx)].map(copy => Boolean(copy.req && copy.res))
    assert.deepEqual(await seen(Koa, has), [true, true, true])
    assert.deepEqual(await seen(Kone, has, { options: { http1: false } }), [true, true, true])
    const app = new Kone().use(ctx => { ctx.body = has(ctx) })
    assert.deepEqual(await (await app.fetch(new Request('http://a/'))).json(), [false, false, true])
  },
  '`app.proxy = true`': async () => {
    const ips = (App, proxy) => seen(App, ctx => ctx.ip, { options: { proxy }, headers: { 'x-forwarded-for': '6.6.6.6, 192.0.2.7' } })
    assert.deepEqual([await ips(Koa, true), await ips(Kone, true)], ['6.6.6.6', '6.6.6.6'])
    assert.equal(await ips(Kone, 1), '192.0.2.7')
    assert.equal(await ips(Kone, ['127.0.0.1']), '192.0.2.7')
    assert.equal(await ips(Kone, ['10.0.0.1']), '127.0.0.1')
  },
  "`ctx.attachment('a.csv')` after `ctx.type = …` or `ctx.body = …`": async () => {
    const calls = { attachment: ctx => ctx.attachment('a.csv'), body: ctx => { ctx.body = 'a,b' }, type: ctx => { ctx.type = 'xml' } }
    const type = async (App, ...order) => (await ends(App, ctx => order.forEach(name => calls[name](ctx)))).headers['content-type'].split(';')[0]
    const types = async App => [await type(App, 'body', 'attachment'), await type(App, 'type', 'attachment', 'body'), await type(App, 'attachment', 'body')]
    assert.deepEqual(await types(Koa), ['text/csv', 'text/csv', 'text/csv'])
    for (const App of [Kone, Koa3]) assert.deepEqual(await types(App), ['text/plain', 'application/xml', 'text/csv'])
  },
  'a body that nobody reads, or whose reader stops: `break` in `for await`, the limit of a parser, `pause()`': async () => {
    const stops = async ctx => {
      if (ctx.path === '/next') return (ctx.body = 'next')
      if (ctx.path === '/') for await (const chunk of ctx.req) if (chunk) break
      ctx.body = 'first'
    }
    // Whether the connection's next request gets a response, behind a body of this many bytes.
    const serves = async (App, length, target = '/') => {
      const app = new App().use(stops)
      app.silent = true
      const socket = net.connect((await serve(app)).address().port).setEncoding('latin1').on('error', () => {})
      socket.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`)
      socket.write(Buffer.alloc(length))
      socket.write('GET /next HTTP/1.1\r\nHost: a\r\n\r\n')
      let text = ''
      socket.on('data', chunk => {
        text += chunk
        if (text.endsWith('next')) socket.destroy()
      })
      if (App === Koa) setTimeout(() => socket.destroy(), 300) // nothing will come
      await once(socket, 'close')
      return text.endsWith('next')
    }
    assert.deepEqual([await serves(Koa, 300_000), await serves(Kone, 300_000)], [false, true])
    assert.equal(await serves(Kone, 3_000_000), true)
  },
  '`app.use()` after `app.listen()`': async () => {
    const late = async App => {
      const app = new App()
      const server = await serve(app)
      app.use(ctx => { ctx.body = 'late' })
      const { status } = await fetch(`http://127.0.0.1:${server.address().port}`)
      server.close()
      return status
    }
    const { version } = require(path.join(path.dirname(require.resolve('koa-compose')), 'package.json'))
    assert.match(version, /^4\.[12]\./)
    assert.equal(await late(Koa), version.startsWith('4.1') ? 200 : 404)
    assert.equal(await late(Kone), 200)
  }
})

table('#### @koa/bodyparser', {
  'no `parsedMethods`': async () => {
    const theirs = require('@koa/bodyparser').bodyParser
    const ours = set.bodyParser
    const show = ctx => { ctx.body = JSON.stringify(ctx.request.body ?? 'none') }
    const body = async (App, parser) => (await ask(App, uses(parser, show), { ...form({ a: 1 }), method: 'DELETE' })).text
    assert.equal(await body(Koa, theirs()), '"none"')
    assert.equal(await body(Koa, require('koa-bodyparser')()), '{"a":"1"}')
    assert.equal(await body(Kone, ours()), '{"a":"1"}')
    assert.equal(await body(Kone, ours({ parsedMethods: ['POST', 'PUT', 'PATCH'] })), '"none"')
  },
  '`onError`, `jsonStrict`, `jsonLimit`, …': async () => {
    for (const parser of [require('@koa/bodyparser').bodyParser, set.bodyParser]) {
      const options = { jsonStrict: false, jsonLimit: '2b', onError: (err, ctx) => ctx.throw(422, String(err.status)) }
      const show = ctx => { ctx.body = String(ctx.request.body) }
      const json = async body => (await ask(Kone, uses(parser(options), show),
        { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text
      assert.deepEqual([await json('7'), await json('[1,2]')], ['7', '413'])
    }
  },
  '`patchNode`, `enableRawChecking`': () => {
    for (const name of ['patchNode', 'enableRawChecking']) assert.match(thrown(() => set.bodyParser({ [name]: true })), new RegExp(name))
  }
})

table('#### koa-session', {
  '`session(options, app)`, `session(app)`': () => {
    assert.ok(thrown(() => set.session({}, new Kone())))
    assert.ok(thrown(() => set.session(new Kone())))
  },
  'no `store`': async () => {
    const cookie = async (App, middleware) => {
      const { headers } = await ask(App, app => { app.keys = ['k']; app.use(middleware(app)); app.use(ctx => { ctx.session.secret = 'readable'; ctx.body = '' }) })
      return Buffer.from(/=([^;]+)/.exec(headers['set-cookie'][0])[1], 'base64').toString('latin1')
    }
    const keys = ['32 bytes or more of a secret, please']
    assert.match(await cookie(Koa, app => require('koa-session').createSession({}, app)), /readable/)
    assert.doesNotMatch(await cookie(Kone, () => set.session({ store: set.session.sealedCookie({ keys }) })), /readable/)
  },
  'no `maxAge`': async () => {
    for (const cookie of await both()) assert.doesNotMatch(String(cookie), /expires=/)
    for (const cookie of await both({ maxAge: 86400000 })) assert.match(String(cookie), /expires=/)
  },
  '`signed`, `sameSite`': async () => {
    const [, plain, all] = await both()
    assert.match(plain, /samesite=lax/i)
    assert.equal(all.length, 1)
    const [, , signed] = await both({ signed: true, sameSite: 'strict' })
    assert.match(signed[0], /samesite=strict/i)
    assert.match(signed[1], /\.sig=/)
    const [, , inCookie] = await both({ cookie: { signed: true } })
    assert.equal(inCookie.length, 2)
  },
  '`rolling`, `renew`, `autoCommit: true`': () => { set.session({ rolling: true, autoCommit: true }); set.session({ renew: true, maxAge: 1000 }) },
  'no `key`': async () => {
    const [theirs, ours] = await both()
    assert.match(theirs, /^koa\.sess=/)
    assert.match(ours, /^koa:sess=/)
  },
  '`genid`, `valid`, `beforeSave`, `externalKey`': async () => {
    const ids = async genid => (await ask(Kone, app => {
      app.use(set.session({ genid })); app.use(ctx => { ctx.session.a = 1; ctx.body = '' })
    })).status
    assert.equal(await ids(() => 'A-z_0.9~'.padEnd(16, 'x')), 200)
    for (const bad of ['short', 'x'.repeat(257), 'with a blank, long enough']) assert.equal(await ids(() => bad), 500, bad)
    for (const name of ['genid', 'valid', 'beforeSave']) set.session({ [name]: () => 'x'.repeat(16) })
    set.session({ externalKey: { get () {}, set () {} } })
  },
  '`encode`, `decode`, `prefix`, `ContextStore`, `autoCommit: false`, `overwrite: false`': () => {
    const all = { encode () {}, decode () {}, prefix: 'x', ContextStore: class {}, autoCommit: false, overwrite: false }
    for (const [name, value] of Object.entries(all)) assert.match(thrown(() => set.session({ [name]: value })) ?? '', new RegExp(name), name)
  },
  '`ctx.session.isNew`, `maxAge`, `save()`, `manuallyCommit()`, `populated`, `externalKey`': async () => {
    const names = ['isNew', 'maxAge', 'save', 'manuallyCommit', 'populated', 'externalKey', 'regenerate', 'length']
    const look = (App, middleware) => ask(App, app => {
      app.keys = ['k']
      app.use(middleware(app))
      app.use(ctx => { ctx.body = JSON.stringify(names.filter(name => name in ctx.session)) })
    })
    assert.deepEqual(JSON.parse((await look(Kone, () => set.session())).text), names.slice(0, -1))
    assert.ok(JSON.parse((await look(Koa, app => require('koa-session').createSession({}, app))).text).includes('length'))
  },
  "`app.on('session:…')`": () => assert.doesNotMatch(fs.readFileSync(require.resolve('kone/middleware/session'), 'utf8'), /session:/),
  'a store with `get(key, maxAge, options)`': async () => {
    const calls = []
    const store = {
      get: async (...args) => { calls.push(['get', args.length]) },
      set: async (...args) => { calls.push(['set', args.length]) },
      destroy: async (...args) => { calls.push(['destroy', args.length]) }
    }
    await ask(Kone, app => { app.use(set.session({ store })); app.use(ctx => { ctx.session.a = 1; ctx.body = '' }) })
    assert.deepEqual(calls, [['set', 3]])
  }
})

// The cookies of koa-session and of kone's, with an option in both.
async function both (options = {}) {
  const cookies = async (App, middleware) => (await ask(App, app => {
    app.keys = ['k']
    app.use(middleware(app))
    app.use(ctx => { ctx.session.a = 1; ctx.body = '' })
  })).headers['set-cookie']
  const ours = await cookies(Kone, () => set.session(options))
  return [(await cookies(Koa, app => require('koa-session').createSession(options, app)))[0], ours[0], ours]
}

const HEAD = { 'content-type': 'multipart/form-data; boundary=x' }
const part = (name, filename) => `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\nhi\r\n`
const files = (...parts) => ({ method: 'POST', headers: HEAD, body: `${parts.join('')}--x--\r\n` })
const uploaded = (options, request, look) => ask(Kone, app => {
  app.use(set.upload(options))
  app.use(async ctx => { ctx.body = await look(ctx) })
}, request)

table('#### @koa/multer', {
  "`upload.single('avatar')`, `array()`, `any()`, `none()` on a route": async () => {
    for (const name of ['single', 'array', 'any', 'none']) assert.ok(thrown(() => set.upload()[name]('avatar')), name)
    const { text } = await uploaded({}, files(part('a', '1'), part('b', '2')), ctx => ctx.request.files.map(({ fieldname }) => fieldname).join())
    assert.equal(text, 'a,b')
  },
  '`upload.fields(list)`': async () => {
    const status = async (...parts) => (await uploaded({ fields: [{ name: 'a', maxCount: 1 }] }, files(...parts), () => '')).status
    assert.deepEqual([await status(part('a', '1')), await status(part('b', '1')), await status(part('a', '1'), part('a', '2'))], [200, 400, 413])
  },
  '`fileFilter(req, file, cb)`': async () => {
    for (const wrap of [value => value, async value => value]) {
      const kept = filter => uploaded({ filter }, files(part('a', '1')), ctx => String(ctx.request.files.length))
      assert.deepEqual([(await kept(() => wrap(true))).text, (await kept((ctx, file) => wrap(file.fieldname === 'b'))).text], ['1', '0'])
    }
  },
  '`storage: multer.memoryStorage()`': async () => {
    for (const storage of [set.upload.memoryStorage(), require('multer').memoryStorage()]) {
      assert.equal((await uploaded({ storage }, files(part('a', '1')), ctx => String(ctx.request.files[0].buffer))).text, 'hi')
    }
  },
  '`file.buffer`, `filename`, `destination` without `storage`': async () => {
    for (const name of ['buffer', 'filename', 'destination']) {
      assert.equal((await uploaded({}, files(part('a', '1')), ctx => thrown(() => ctx.request.files[0][name]) ? 'throws' : 'has it')).text, 'throws', name)
    }
    assert.equal((await uploaded({}, files(part('a', '1')), ctx => String(fs.readFileSync(ctx.request.files[0].path)))).text, 'hi')
  },
  'files that stay': async () => {
    let file
    await uploaded({}, files(part('a', '1')), ctx => { file = ctx.request.files[0].path; return '' })
    while (fs.existsSync(file)) await new Promise(resolve => setImmediate(resolve))
  }
})

const LINES = [[Koa, Kone], [Koa3, Kone3]]

/** What all four give: Koa and kone of a line the same. */
async function lines (probe, two, three) {
  for (const [i, expected] of [two, three].entries()) {
    for (const App of LINES[i]) assert.deepEqual(await probe(App), expected, `${App === Koa || App === Koa3 ? 'Koa' : 'kone'} ${i + 2}`)
  }
}

/** What a copy of http-errors of its own makes. */
const foreign = status => Object.assign(new Error('x'), { status, statusCode: status, expose: true })

const header = (name, set) => async App => (await ends(App, set)).headers[name]

table('## From Koa 3', {
  '`http-errors`, `Koa.HttpError`': () => {}, // koa3.once.long.test.js: what both packages depend on
  '`ctx.throw()`': () => lines(async App => (await ends(App, ctx => ctx.throw('no', 404))).status, 404, 500),
  "A status of the app's own": () => {}, // koa3.once.long.test.js
  'Phrases of 306, 418, 425': async two => {
    const phrases = App => Promise.all([306, 418, 425].map(async status => (await ends(App, ctx => { ctx.status = status; ctx.body = '' })).message))
    await lines(phrases, ['(Unused)', "I'm a teapot", 'Unordered Collection'], ['unknown', "I'm a Teapot", 'Too Early'])
    assert.equal(two, "(Unused), I'm a teapot, Unordered Collection")
  },
  'An error of code ENOENT without a status': () => lines(async App =>
    (await ends(App, () => { throw Object.assign(new Error('x'), { code: 'ENOENT' }) })).status, 404, 500),
  '`Content-Type` and `Content-Length` among the headers of an error': () => lines(async App => {
    const { headers } = await ends(App, () => { throw Object.assign(new Error('x'), { headers: { 'Content-Type': 'text/css', 'X-A': '1' } }) })
    return Object.keys(headers).filter(name => ['content-type', 'x-a'].includes(name))
  }, ['content-type', 'x-a'], ['x-a', 'content-type']),
  '`ctx.origin`': async () => {
    const origins = async App => [await seen(App, ctx => ctx.origin, { headers: { host: 'a' } }),
      await seen(App, ctx => ctx.origin, { headers: { host: 'a', origin: 'http://b' } })]
    await lines(origins, ['http://a', 'http://a'], [null, 'http://b'])
  },
  '`ctx.request.length` of text that is not a number': () => lines(App => {
    const ctx = new App().createContext({ headers: { 'content-length': 'x' }, socket: {} }, { getHeader () {}, setHeader () {} })
    return String(ctx.request.length)
  }, '0', 'undefined'),
  '`ctx.query`': () => lines(App => seen(App, ctx => Object.getPrototypeOf(ctx.query) === null, { url: '/?a=b' }), true, false),
  '`ctx.query=`': () => lines(App => seen(App, ctx => { ctx.query = { a: 'b c' }; return ctx.querystring }), 'a=b%20c', 'a=b+c'),
  '`ctx.response.get()` and `ctx.etag` of a field that is not set': () =>
    lines(App => seen(App, ctx => [typeof ctx.response.get('x'), typeof ctx.etag]), ['string', 'string'], ['undefined', 'undefined']),
  '`ctx.set()` of a number, of undefined': () => lines(App => seen(App, ctx => {
    ctx.set('X-A', 5)
    return [typeof ctx.response.get('X-A'), thrown(() => ctx.set('X-B', undefined)) === undefined]
  }), ['string', true], ['number', false]),
  "`ctx.type = 'js'`": () => lines(header('content-type', ctx => { ctx.type = 'js'; ctx.body = '' }),
    'application/javascript; charset=utf-8', 'text/javascript; charset=utf-8'),
  '`ctx.length` of a Response without `Content-Length`': async () => {
    const length = App => seen(App, ctx => { ctx.body = new Response('abc'); return ctx.length ?? null })
    assert.equal(await length(Kone), null)
    for (const App of LINES[1]) assert.equal(await length(App), 2)
  },
  '`ctx.body = null` with the type application/json': () => lines(async App => {
    const { status, text } = await ends(App, ctx => { ctx.type = 'application/json'; ctx.body = null })
    return [status, text]
  }, [204, ''], [404, 'null']),
  'A stream as the body': () => lines(App => seen(App, ctx => {
    const stream = Readable.from(['a'])
    ctx.body = stream
    return stream.listenerCount('error') > 0
  }), true, false),
  '`ctx.body = {}` with another JSON type': () => lines(header('content-type', ctx => { ctx.type = 'application/problem+json'; ctx.body = {} }),
    'application/json; charset=utf-8', 'application/problem+json'),
  "`ctx.redirect('back')`": () => lines(async App => (await ends(App, ctx => ctx.redirect('back'), { headers: { host: 'a', referer: 'http://a/page' } })).headers.location,
    'http://a/page', 'back'),
  'Generator functions in `app.use()`': async () => {
    const generated = async App => {
      const { deprecation } = process.emitWarning ? { deprecation: process.env.NO_DEPRECATION } : {}
      process.env.NO_DEPRECATION = 'koa'
      const result = await ask(App, app => app.use(function * () { this.body = 'made' }))
      if (deprecation === undefined) delete process.env.NO_DEPRECATION
      return result.text
    }
    await lines(generated, 'made', 'Not Found')
  },
  '`instanceof Koa.HttpError` of an error that another copy of http-errors has made': () => lines(App => foreign(400) instanceof App.HttpError, false, true)
})

/** The same of an app of Express and of kone. */
async function likeExpress (theirs, ours, request = {}, pick = ({ status, text }) => [status, text]) {
  const app = express()
  theirs(app)
  const server = await serve(http.createServer(app))
  const { method, url = '/', headers, body } = request
  const res = await fetch(`http://127.0.0.1:${server.address().port}${url}`, { method, headers, body, redirect: 'manual' })
  const there = { status: res.status, headers: Object.fromEntries(res.headers), text: await res.text() }
  server.close()
  assert.deepEqual(pick(await ask(Kone, ours, request)), pick(there))
}

const get = handler => app => app.get('/', handler)
const view = { engine: path.join(__dirname, '../docs/project/views') }

table('## From Express', {
  '`(req, res, next)`': () => likeExpress(app => { app.use((req, res, next) => next()); app.use((req, res) => res.send('a')) },
    uses((ctx, next) => next(), ctx => { ctx.body = 'a' })),
  '`res.send(x)`, `res.json(x)`': async () => {
    await likeExpress(get((req, res) => res.send('a')), uses(ctx => { ctx.body = 'a' }))
    await likeExpress(get((req, res) => res.json({ a: 1 })), uses(ctx => { ctx.body = { a: 1 } }))
  },
  '`res.status(201)`': () => likeExpress(get((req, res) => res.status(201).send('a')), uses(ctx => { ctx.status = 201; ctx.body = 'a' })),
  '`res.set(a, b)`, `req.get(a)`': () => likeExpress(get((req, res) => res.set('x-a', req.get('x-b')).send()), uses(ctx => { ctx.set('x-a', ctx.get('x-b')); ctx.body = '' }),
    { headers: { 'x-b': 'c' } }, ({ headers }) => headers['x-a']),
  '`res.redirect(url)`, `res.redirect(301, url)`': async () => {
    const where = ({ status, headers }) => [status, headers.location]
    await likeExpress(get((req, res) => res.redirect('/a')), uses(ctx => ctx.redirect('/a')), {}, where)
    await likeExpress(get((req, res) => res.redirect(301, '/a')), uses(ctx => { ctx.status = 301; ctx.redirect('/a') }), {}, where)
  },
  '`res.cookie(a, b)`, `req.cookies.a`': async () => {
    await likeExpress(get((req, res) => res.cookie('a', 'b').send()), uses(ctx => { ctx.cookies.set('a', 'b'); ctx.body = '' }), {},
      ({ headers }) => String(headers['set-cookie']).split(';')[0])
    assert.equal(await seen(Kone, ctx => ctx.cookies.get('a'), { headers: { cookie: 'a=b' } }), 'b')
  },
  '`res.locals`, `req.user = …`': () => likeExpress(app => { app.use((req, res, next) => { res.locals.a = 'b'; next() }); app.use((req, res) => res.send(res.locals.a)) },
    uses((ctx, next) => { ctx.state.a = 'b'; return next() }, ctx => { ctx.body = ctx.state.a })),
  '`res.sendFile(path)`': async () => {
    await likeExpress(get((req, res) => res.sendFile(__filename)), uses(ctx => { ctx.body = fs.createReadStream(__filename) }))
    await likeExpress(get((req, res) => res.sendFile(__filename)), uses(set.static(__dirname, { index: 'tables.test.js' })))
  },
  '`res.render(view, data)`': async () => {
    const { text } = await ask(Kone, uses(set.template(view.engine, { options: { filters: { shout: String } } }), ctx => ctx.render('user', { name: 'Ada' })))
    assert.match(text, /Ada/i)
  },
  '`app.get(path, fn)`': () => likeExpress(get((req, res) => res.send('a')), uses(new Router().get('/', ctx => { ctx.body = 'a' }).routes())),
  '`app.use(path, fn)`': async () => {
    const theirs = app => { app.use('/a', (req, res, next) => { res.set('x-a', 'b'); next() }); app.get('/a/b', (req, res) => res.send()) }
    const router = new Router().use('/a', (ctx, next) => { ctx.set('x-a', 'b'); return next() }).get('/a/b', ctx => { ctx.body = '' })
    const mark = ({ status, headers }) => [status, headers['x-a']]
    await likeExpress(theirs, uses(router.routes()), { url: '/a/b' }, mark)
    await likeExpress(theirs, uses(mount('/a', (ctx, next) => { ctx.set('x-a', 'b'); return next() })), { url: '/a/c' }, mark)
    assert.deepEqual(mark(await ask(Kone, uses(router.routes()), { url: '/a/c' })), [404, undefined])
  },
  '`req.params`, `express.Router()`': () => {
    const router = new Router()
    router.get('/users/:id', ctx => { ctx.body = ctx.params.id })
    const theirs = express.Router().get('/users/:id', (req, res) => res.send(req.params.id))
    return likeExpress(app => app.use(theirs), uses(router.routes()), { url: '/users/7' })
  },
  '`express.json()`, `express.urlencoded()`': async () => {
    const ours = uses(set.bodyParser(), ctx => { ctx.body = ctx.request.body })
    await likeExpress(app => { app.use(express.urlencoded()); app.use((req, res) => res.json(req.body)) }, ours, form({ a: 1 }))
    await likeExpress(app => { app.use(express.json()); app.use((req, res) => res.json(req.body)) }, ours,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' })
  },
  "`req.ip`, `app.set('trust proxy', 1)`": () => likeExpress(app => { app.set('trust proxy', 1); app.use((req, res) => res.send(req.ip)) },
    app => { app.proxy = 1; app.use(ctx => { ctx.body = ctx.ip }) }, { headers: { 'x-forwarded-for': '6.6.6.6, 192.0.2.7' } }),
  '`next(err)`': () => likeExpress(app => { app.use((req, res, next) => next(Object.assign(new Error('message'), { status: 400 }))) },
    uses(ctx => ctx.throw(400, 'message')), {}, ({ status }) => status),
  '`app.use((err, req, res, next) => …)`': () => likeExpress(
    app => { app.use(() => { throw new Error('a') }); app.use((err, req, res, next) => res.send(err.message)) },
    uses(async (ctx, next) => { try { await next() } catch (err) { ctx.body = err.message } }, () => { throw new Error('a') }))
})

const param = async (App, Class) => {
  const router = new Class().get('/:p', ctx => { ctx.body = ctx.params.p })
  return (await ask(App, uses(router.routes()), { url: '/a+b' })).text
}
const failing = middleware => beside(middleware, () => { throw new Error('x') })
const beside = async (middleware, handler, request) => {
  return Promise.all([Koa, Kone].map((App, i) => ask(App, uses(middleware[i], handler), request)))
}
const byExample = () => {} // test/compat/migration.test.js runs the README's example of the package

table('### Packages', {
  'koa-router 13': async () => assert.deepEqual([await param(Koa, require('koa-router')), await param(Kone, set.router)], ['a b', 'a+b']),
  '@koa/router 12, 13': async () => assert.equal(await param(Kone, set.router), 'a+b'),
  '@koa/router 14, 15': async () => {
    assert.equal(await param(Koa, require('@koa/router')), 'a+b')
    assert.match(thrown(() => new Router().get('/files/*path', () => {})), /syntax/)
    new Router({ syntax: 8 }).get('/files/*path', () => {})
  },
  'koa-bodyparser 4': byExample,
  '@koa/bodyparser 5, 6': byExample,
  'koa-session-minimal': async () => {
    const kept = async (App, session) => {
      const store = { get: async () => {}, set: async () => {}, destroy: async () => {} } // no timer of a day
      const app = uses(session({ store }), ctx => {
        if (ctx.path === '/set') {
          const object = { first: 1 }
          ctx.session = object
          object.later = 2
        }
        ctx.body = JSON.stringify(ctx.session)
      })
      return JSON.parse((await ask(App, app, { url: '/set' })).text)
    }
    assert.deepEqual(await kept(Koa, require('koa-session-minimal')), { first: 1, later: 2 })
    assert.deepEqual(await kept(Kone, set.session), { first: 1 })
  },
  'koa-session': byExample,
  'koa-views': () => {
    set.template(view.engine, { map: { html: 'nunjucks' } })
    assert.match(thrown(() => set.template(view.engine, { map: { html: 'pug' } })), /pug|nunjucks/)
  },
  'koa-static': byExample,
  'koa-logger': async () => {
    const lines = []
    await ask(Kone, uses(set.logger(line => lines.push(line))))
    assert.match(lines[0], /--> GET \/ /)
  },
  'koa-log4': byExample,
  '@koa/cors': () => {
    for (const options of [{ credentials: true }, { origin: 'https://a.example/path' }, { origin: 'a.example' }]) assert.ok(thrown(() => set.cors(options)))
  },
  'koa-helmet': async () => {
    const [theirs, ours] = await failing([require('koa-helmet')(), set.helmet()])
    assert.deepEqual([theirs, ours].map(({ headers }) => headers['x-content-type-options']), [undefined, 'nosniff'])
  },
  'koa-csrf 5': () => { new Csrf(); set.csrf() }, // eslint-disable-line no-new
  'koa-compress, koa-etag, koa-conditional-get, koa-favicon': byExample,
  'koa-i18n, with koa-locale': byExample,
  'koa-jsonp': async () => {
    assert.match(thrown(() => set.jsonp({ domain: 'a.example' })), /domain/)
    const [theirs, ours] = await beside([require('koa-jsonp')(), set.jsonp()], ctx => { ctx.body = { a: 1 } }, { method: 'POST', url: '/?callback=cb' })
    assert.match(theirs.text, /<script/)
    assert.equal(ours.text, '{"a":1}')
  },
  'koa-ratelimit': async () => {
    const limit = make => make({ driver: 'memory', db: new Map(), duration: 500, max: 5, id: () => 'a' })
    const [theirs, ours] = await failing([limit(require('koa-ratelimit')), limit(set.rateLimit)])
    assert.deepEqual([theirs, ours].map(({ headers }) => headers['x-ratelimit-limit']), [undefined, '5'])
  },
  'koa-requestid': async () => {
    const has = ({ headers }) => ['request-id', 'x-request-id'].filter(name => name in headers)
    const [theirs, ours] = await beside([require('koa-requestid')(), set.requestId()], ctx => { ctx.body = '' })
    assert.deepEqual([has(theirs), has(ours)], [['request-id'], ['x-request-id']])
    const [, same] = await beside([require('koa-requestid')(), set.requestId({ header: 'Request-Id', expose: 'Request-Id' })], ctx => { ctx.body = '' })
    assert.deepEqual(has(same), ['request-id'])
    const [lost, kept] = await failing([require('koa-requestid')(), set.requestId()])
    assert.deepEqual([has(lost), has(kept)], [[], ['x-request-id']])
  },
  '@koa/multer': byExample
})

table('#### @koa/router 14 and 15', {
  '`/users{/:id}`': async () => {
    const found = syntax => paths(syntax, '/users{/:id}', ['/users', '/users/1'])
    assert.deepEqual([await found(6), await found(8)], [['/users/1'], ['/users', '/users/1']])
  },
  '`/files/*path`': async () => {
    assert.ok(thrown(() => new Router().get('/files/*path', () => {})))
    assert.deepEqual(await paths(8, '/files/*path', ['/files/a/b']), ['/files/a/b'])
  }
})

async function paths (syntax, path, urls) {
  const router = new Router(syntax === 8 ? { syntax } : {}).get(path, ctx => { ctx.body = '' })
  const found = await Promise.all(urls.map(async url => (await ask(Kone, uses(router.routes()), { url })).status === 200 && url))
  return found.filter(Boolean)
}

/** How many promises a request makes. */
async function promises (setup) {
  const app = new Kone()
  setup(app)
  for (let i = 0; i < 3; i++) await app.inject('/')
  let count = 0
  const hook = createHook({ init: (id, type) => { if (type === 'PROMISE') count++ } }).enable()
  await app.inject('/')
  hook.disable()
  return count
}

const hi = ctx => { ctx.body = 'hi' }

table('### What to change afterwards, if you like', {
  'code behind `await next()` of the first middleware': async () => {
    const before = await promises(uses(async (ctx, next) => { await next(); ctx.set('X-A', '1') }, hi))
    const after = await promises(app => app.use(hi).final(ctx => ctx.set('X-A', '1')))
    assert.ok(after < before, `${after} < ${before}`)
  },
  'an access log behind `await next()`': async () => {
    const order = []
    await ask(Kone, app => {
      app.use(ctx => { ctx.onFinished(() => order.push('sent')); ctx.body = '' })
      app.on('finish', ctx => order.push(`log ${ctx.status}`))
    })
    assert.deepEqual(order.sort(), ['log 200', 'sent'])
  },
  '`async (ctx, next) => { …; await next() }`': async () => {
    const before = await promises(uses(async (ctx, next) => { await next() }, hi))
    const after = await promises(uses((ctx, next) => next(), hi))
    assert.ok(after < before, `${after} < ${before}`)
  },
  '`ctx.req`, `ctx.res`': async () => {
    const made = handler => seen(Kone, ctx => { handler(ctx); return ctx.outgoing.res !== null })
    assert.equal(await made(ctx => ctx.res.setHeader('X-A', '1')), true)
    assert.equal(await made(ctx => { ctx.get('A'); ctx.set('X-A', '1'); ctx.request.readBody(); ctx.onFinished(() => {}) }), false)
  },
  '`server.close()`': () => {} // test/deploy and test/engines compare how both stop
})
