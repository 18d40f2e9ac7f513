'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const { STATUS_CODES } = require('node:http')
const { PassThrough } = require('node:stream')
const { setImmediate } = require('node:timers/promises')

const Koa2 = require('koa')
const Koa3 = require('koa3')

const Kone = require('../helpers/kone')
const { Kone3 } = require('../helpers/kone3')
const { exchange } = require('../helpers/engines')
const joinChunks = require('../helpers/join-chunks')
const share = require('../helpers/share')
const apps = require('./apps')

const koaCompose = require.resolve('koa-compose')

/** Koa 2 or 3 with another koa-compose. */
function koaWith (name, compose) {
  const file = require.resolve(`${name}/lib/application`)
  const [{ exports: own }, loaded] = [koaCompose, file].map(one => require.cache[one])
  delete require.cache[file]
  require.cache[koaCompose].exports = compose
  try {
    return require(file)
  } finally {
    require.cache[koaCompose].exports = own
    require.cache[file] = loaded
  }
}

const Koa2With42 = koaWith('koa', require('koa-compose-4.2'))
const Koa3With42 = koaWith('koa3', require('koa-compose-4.2'))

/** The response of a class to an entry of the table, as text without Date. */
async function answer (App, entry, http1) {
  const app = new App(entry.options)
  app.silent = true
  app.http1 = http1
  if (entry.set) entry.set(app)
  for (const fn of entry.middleware) app.use(fn)

  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const text = await exchange(server.address().port, bytes(entry))
    return joinChunks(text.replace(/^Date: .{29}\r\n/gm, date => date.includes('2024') ? date : ''))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function bytes ({ ask, headers, body, keepAlive }) {
  const [method, target] = ask.split(' ')
  const fields = { host: 'example.com', ...headers }
  if (body !== undefined && !fields['transfer-encoding']) fields['content-length'] = Buffer.byteLength(body)
  const close = 'Connection: close\r\n'
  const head = `${method} ${target} HTTP/1.1\r\n${lines(fields)}${keepAlive ? '' : close}\r\n${body ?? ''}`
  return keepAlive ? `${head}GET /second HTTP/1.1\r\nHost: example.com\r\n${close}\r\n` : head
}

function lines (fields) {
  return Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

/** A class whose app is another object with the members of an app and of its prototype, as @feathersjs/koa makes it. */
const copied = App => function (options) {
  const app = new App(options)
  const members = [Object.getPrototypeOf(app), app].map(one => Object.getOwnPropertyDescriptors(one))
  return Object.defineProperties(new EventEmitter(), Object.assign({}, ...members))
}

describe('an app whose members are copied to another object', () => {
  for (const [name, Theirs, Ours] of [['Koa 2', Koa2, Kone], ['Koa 3', Koa3, Kone3]]) {
    it(`should respond as that of ${name}`, async () => {
      const entry = { ask: 'GET /a', middleware: [(ctx, next) => next(), ctx => { ctx.body = { path: ctx.path } }] }
      const expected = await answer(copied(Theirs), entry)
      for (const http1 of [true, false]) assert.equal(await answer(copied(Ours), entry, http1), expected)
    })
  }
})

/** Errors of each status, as a middleware throws them: `/418?how=error&expose=true` */
const ERRORS = {
  how: {
    error: (ctx, status, props) => { throw Object.assign(new Error('wrong'), { status }, props) },
    statusCode: (ctx, status, props) => { throw Object.assign(new Error('wrong'), { statusCode: status }, props) },
    throw: (ctx, status) => ctx.throw(status),
    'ctx.throw(status, message, props)': (ctx, status, props) => ctx.throw(status, 'wrong', props)
  },
  expose: { unset: undefined, true: true, false: false },
  headers: {
    none: undefined,
    location: { Location: '/a', 'X-A': ['1', '2'] },
    own: { 'X-A': '1', 'Content-Type': 'text/html', 'Content-Length': '1000' }
  },
  code: { none: undefined, ENOENT: 'ENOENT' },
  before: { nothing: () => {}, body: ctx => { ctx.body = { a: 1 } } }
}

/** What an error may have as its status, beside the integers from 100 to 999. */
const ODD = { NaN, Infinity, '-1': -1, 0: 0, 99: 99, 1000: 1000, 404.5: 404.5, "'404'": '404', "'abc'": 'abc', null: null, undefined, '{}': {}, true: true }

function throwing (ctx) {
  const { how, status, ...names } = ctx.query
  const { before, ...props } = Object.fromEntries(Object.entries(names).map(([name, value]) => [name, ERRORS[name][value]]))
  for (const name of Object.keys(props)) if (props[name] === undefined) delete props[name]
  before?.(ctx)
  ERRORS.how[how](ctx, Object.hasOwn(ODD, status) ? ODD[status] : Number(status), props)
}

/** Every combination of one value of each property, as queries. */
function combinations (properties) {
  return Object.entries(properties).reduce((queries, [name, values]) => queries.flatMap(
    query => Object.keys(values).map(value => `${query}&${name}=${encodeURIComponent(value)}`)), [''])
}

describe('the same app', () => {
  assert(apps.length >= 120)

  for (const [at, entry] of apps.entries()) {
    it(`should get a response alike: ${entry.title}`, async () => {
      const front = answer(Kone, entry, true)
      const node = answer(Kone, entry, false)
      const [kone, koneOnNode] = [await front, await node]
      assert.match(kone, /^HTTP\/1\.1 \d/)
      assert.equal(kone, koneOnNode, 'the front and node:http')
      if (entry.expect) assert.match(kone, entry.expect)
      if (entry.hangs) return
      const [koa2, koa3] = [await answer(Koa2, entry), await answer(Koa3, entry)]
      if (share(at % 5 === 0, true)) { // of Koa alone
        assert.deepEqual([await answer(Koa2With42, entry), await answer(Koa3With42, entry)], [koa2, koa3], 'koa-compose 4.1 and 4.2')
      }
      compare(kone, koa2, entry.kone, 'kone and koa 2')
      compare(koa3, koa2, entry.koa3, 'koa 3 and koa 2')

      const [kone3, kone3OnNode] = [await answer(Kone3, entry, true), await answer(Kone3, entry, false)]
      assert.equal(kone3, kone3OnNode, 'the front and node:http under kone@3')
      compare(kone3, koa3, entry.kone3, 'kone@3 and koa 3')
    })
  }
})

describe('middleware that is added after app.listen()', () => {
  for (const [name, App, status] of [['koa 2', Koa2, 200], ['koa 3', Koa3, 200], ['koa 2 with koa-compose 4.2', Koa2With42, 404],
    ['koa 3 with koa-compose 4.2', Koa3With42, 404], ['kone', Kone, 200], ['kone@3', Kone3, 200]]) {
    it(`should respond with ${status} on ${name}`, async t => {
      const app = new App()
      const server = app.listen(0, '127.0.0.1')
      t.after(() => server.close())
      app.use(ctx => { ctx.body = 'late' })
      await once(server, 'listening')
      assert.match(await exchange(server.address().port, bytes({ ask: 'GET /' })), new RegExp(`^HTTP/1\\.1 ${status} `))
    })
  }
})

// A difference has to be on the list, and what is on the list has to be there.
function compare (actual, expected, reason, who) {
  if (reason === undefined) return assert.equal(actual, expected)
  assert.notEqual(actual, expected, `${who} do not differ, although the table says: ${reason}`)
}

describe('an error of a status', () => {
  const CODES = new Set([...Object.keys(STATUS_CODES), '306'])
  const [FEW, MORE] = [11, 5] // no divisors of the numbers of values
  const servers = {}

  before(async () => {
    for (const [name, App, http1] of [['koa 2', Koa2], ['kone', Kone, true], ['kone on node', Kone, false],
      ['koa 3', Koa3], ['kone@3', Kone3, true], ['kone@3 on node', Kone3, false]]) {
      const app = new App()
      Object.assign(app, { silent: true, http1 })
      app.use(throwing)
      servers[name] = app.listen(0, '127.0.0.1')
      await once(servers[name], 'listening')
    }
  })

  after(() => {
    for (const server of Object.values(servers)) {
      server.closeAllConnections()
      server.close()
    }
  })

  /** The responses of each server to these targets, which are pipelined. */
  async function responses (targets) {
    const last = targets.length - 1
    const text = targets.map((target, i) => `GET ${target} HTTP/1.1\r\nHost: a\r\n${i < last ? '' : 'Connection: close\r\n'}\r\n`).join('')
    const received = await Promise.all(Object.entries(servers).map(async ([name, server]) => [
      name, (await exchange(server.address().port, text)).replace(/^Date: .*\r\n/gm, '')]))
    return Object.fromEntries(received)
  }

  /** Koa 2 and kone, Koa 3 and kone@3 send the same bytes. */
  async function same (targets) {
    const all = await responses(targets)
    assert.match(all.kone, /^HTTP\/1\.1 \d/)
    for (const [kone, koa] of [['kone', 'koa 2'], ['kone on node', 'koa 2'], ['kone@3', 'koa 3'], ['kone@3 on node', 'koa 3']]) {
      assert.equal(all[kone], all[koa], targets.join('\n'))
    }
  }

  const queries = combinations(ERRORS)

  for (const [at, code] of [...CODES].entries()) {
    it(`should get the response of Koa: ${code}`, async () => {
      // each pair of values is with several codes
      const some = queries.filter((_, i) => share(i % FEW === at % FEW, i % MORE === at % MORE, true))
      const targets = some.map(query => `/?status=${code}${query}`)
      if (code >= 200) for (const group of code === '205' ? targets.map(target => [target]) : [targets]) await same(group)
      else {
        // Koa sends it, and the client waits for the response that follows it.
        const received = await responses(targets.filter(target => !target.includes('ENOENT')))
        for (const [name, text] of Object.entries(received)) {
          const statuses = new Set(Array.from(text.matchAll(/^HTTP\/1\.1 (\d+)/gm), ([, status]) => status))
          assert.deepEqual([...statuses], [name.startsWith('koa ') ? code : '500'], name)
        }
      }
    })
  }

  it('should get the response of Koa: any other number, and what is not a number', async () => {
    const all = Array.from({ length: 900 }, (_, i) => String(i + 100))
    const some = queries.filter((_, i) => i % 17 === 0) // each value of each property is in one of them
    for (const [at, query] of some.entries()) {
      const others = all.filter((code, i) => !CODES.has(code) && share(i % some.length === at, i % 3 === at % 3, true))
      const targets = [...others, ...Object.keys(ODD)].map(code => `/?status=${encodeURIComponent(code)}${query}`)
      for (let i = 0; i < targets.length; i += 100) await same(targets.slice(i, i + 100))
    }
  })
})

describe('a body of kone@3', () => {
  const serve = fn => {
    const app = new Kone3()
    const errors = []
    app.on('error', err => errors.push(err.message))
    app.use(async (ctx, next) => {
      await next()
      await setImmediate() // as a middleware that waits before the response
    })
    app.use(fn)
    return { app, errors }
  }

  it("should have Koa 3's ctx.length where it is a Response, which HEAD does not send", async () => {
    const body = ctx => {
      ctx.body = new Response(ctx.query.text, { headers: ctx.query.length && { 'Content-Length': '5' } })
      ctx.set('X-Length', String(ctx.length))
    }
    for (const ask of ['HEAD /', 'HEAD /?text=hello', 'HEAD /?text=hello&length=5', 'GET /?text=hello']) {
      const entry = { ask, middleware: [body] }
      const koas = await answer(Koa3, entry)
      assert.equal(await answer(Kone3, entry, true), koas.replace('Content-Length: 2\r\n', ''))
    }
  })

  const fail = stream => stream.destroy(new Error('broken'))
  const MOMENTS = {
    'before it is set': (ctx, stream) => {
      fail(stream)
      ctx.body = stream
    },
    'in the tick in which it is set': (ctx, stream) => {
      ctx.body = stream
      fail(stream)
    },
    'in the next microtask': async (ctx, stream) => {
      ctx.body = stream
      await undefined
      fail(stream)
    },
    'before the response': async (ctx, stream) => {
      ctx.body = stream
      await setImmediate()
      fail(stream)
    }
  }
  for (const [moment, act] of Object.entries(MOMENTS)) {
    it(`should be an error of the request where it is a stream that fails ${moment}`, async () => {
      const listeners = []
      const { app, errors } = serve(ctx => {
        const stream = new PassThrough()
        const acted = act(ctx, stream)
        if (!stream.destroyed) listeners.push(stream.listenerCount('error'))
        return acted
      })
      const { status } = await app.inject('/')
      assert.deepEqual([status, errors, listeners.filter(Boolean)], [500, ['broken'], []])
    })
  }
})
