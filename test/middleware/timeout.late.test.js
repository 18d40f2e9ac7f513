'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { Readable } = require('node:stream')
const { session, timeout } = require('kone/middleware')
const { connect } = require('../helpers/engines')
const frameworks = require('../helpers/frameworks')
const storeOf = require('../helpers/sessions')
const share = require('../helpers/share')
const until = require('../helpers/until')
const visitor = require('../helpers/visitor')

// Every member that a prototype of ctx, ctx.response and ctx.res has, on any Node: one that is in neither list fails.

/** What changes a response: the arguments of a call, or `set` for an assignment. */
const set = (...values) => ({ values })
const call = (...args) => ({ args })
const HEADER = [call('X-Late', '1'), call('X-Above', '2'), call('Set-Cookie', ['late=1'])]
const cookies = call('late', '1')

const CHANGES = {
  ctx: {
    body: set('late', null, undefined, { late: 1 }, Buffer.from('late')),
    status: set(418, 204, 304),
    message: set('late'),
    length: set(1),
    type: set('text/late'),
    lastModified: set(new Date()),
    etag: set('late'),
    set: [...HEADER, call({ 'X-Late': '1' })],
    append: HEADER,
    remove: [call('X-Above'), call('Set-Cookie')],
    vary: call('X-Late'),
    redirect: call('/late'),
    back: call('/late'),
    attachment: call('late.txt'),
    flushHeaders: call(),
    respond: set(false),
    method: set('HEAD'),
    onerror: [call(new Error('late')), { values: [() => {}] }],
    cookies: set({ set () {} }),
    response: set({}),
    res: set({})
  },
  res: {
    statusCode: set(418),
    statusMessage: set('late'),
    setHeader: HEADER,
    appendHeader: HEADER,
    setHeaders: call(new Map([['X-Late', '1']])),
    removeHeader: [call('X-Above'), call('Set-Cookie')],
    writeHead: [call(418), call(200, { 'X-Late': '1' })],
    writeHeader: call(418),
    writeContinue: call(),
    writeProcessing: call(),
    writeEarlyHints: call({ link: '</late>; rel=preload' }),
    writeInformation: call(103),
    flushHeaders: call(),
    addTrailers: call({ 'X-Late': '1' }),
    setTrailer: call('X-Late', '1'),
    write: call('late'),
    end: [call(), call('late')],
    destroy: [call(), call(new Error('late'))],
    cork: call(),
    uncork: call(),
    setTimeout: call(1),
    assignSocket: call({}),
    detachSocket: call({}),
    socket: set(null),
    connection: set(null),
    sendDate: set(false),
    shouldKeepAlive: set(false),
    chunkedEncoding: set(true),
    useChunkedEncodingByDefault: set(false),
    strictContentLength: set(true),
    removeAllListeners: call() // node's own are among them
  },
  stream: {
    respond: call({ ':status': 418 }),
    respondWithFD: call(0, { ':status': 418 }),
    respondWithFile: call(__filename, { ':status': 418 }),
    additionalHeaders: call({ ':status': 103 }),
    pushStream: call({ ':path': '/late' }, () => {}),
    sendTrailers: call({ 'x-late': '1' }),
    priority: call({}),
    close: [call(), call(8)],
    write: call('late'),
    end: [call(), call('late')],
    destroy: [call(), call(new Error('late'))],
    cork: call(),
    uncork: call(),
    setDefaultEncoding: call('hex'),
    setTimeout: call(1, () => {}),
    removeAllListeners: call()
  }
}
CHANGES.response = Object.fromEntries(Object.entries(CHANGES.ctx).filter(([name]) => {
  return !['respond', 'method', 'onerror', 'cookies', 'response'].includes(name)
}))

/** What changes no response; each is called without arguments, and nothing may be different then, either. */
const NOTHING = {
  ctx: [
    'inspect', 'toJSON', 'assert', 'throw', 'onFinished', 'has', 'headerSent', 'writable', 'acceptsLanguages',
    'acceptsEncodings', 'acceptsCharsets', 'accepts', 'get', 'is', 'querystring', 'idempotent', 'socket', 'search', 'query', 'path',
    'url', 'accept', 'origin', 'href', 'subdomains', 'protocol', 'host', 'hostname', 'URL', 'header', 'headers', 'secure', 'stale',
    'fresh', 'ips', 'ip', 'signal'
  ],
  response: ['inspect', 'toJSON', 'has', 'get', 'is', 'header', 'headers', 'headerSent', 'writable', 'socket'],
  res: [
    // events are notifications, and 'error' has a listener
    'eventNames', 'setMaxListeners', 'getMaxListeners', 'emit', 'addListener', 'on', 'prependListener', 'once',
    'prependOnceListener', 'removeListener', 'off', 'listeners', 'rawListeners', 'listenerCount', 'domain',
    // reading
    'getHeader', 'getHeaderNames', 'getRawHeaderNames', 'getHeaders', 'hasHeader', 'headersSent', 'writableEnded', 'writableNeedDrain',
    'errored', 'closed', 'writableFinished', 'writableObjectMode', 'writableLength', 'writableHighWaterMark', 'writableCorked', 'finished',
    'writable', 'destroyed', 'outputData', 'outputSize', 'req', 'maxRequestsOnConnectionReached', 'stream', 'reportsFlush',
    // a response cannot be read; another response
    'pipe', 'createPushResponse'
  ]
}
// of HTTP/2; what a stream that is read has is the request's
NOTHING.stream = [
  'aborted', 'bufferSize', 'endAfterHeaders', 'headRequest', 'headersSent', 'id', 'pending', 'pushAllowed', 'rstCode', 'sentHeaders',
  'sentInfoHeaders', 'sentTrailers', 'session', 'state', 'allowHalfOpen', 'writable', 'writableAborted', 'writableBuffer', 'writableCorked',
  'writableEnded', 'writableFinished', 'writableHighWaterMark', 'writableLength', 'writableNeedDrain', 'writableObjectMode'
]

/** What was handed out before the limit, or is later, and changed then. */
const VALUES = {
  'the array of getHeader': ({ res }) => res.getHeader('Set-Cookie'),
  'the array of getHeaders': ({ res }) => res.getHeaders()['set-cookie'],
  'the array of ctx.response.get': ({ response }) => response.get('Set-Cookie'),
  'the array of ctx.response.headers': ({ response }) => response.headers['set-cookie']
}
const OBJECTS = { ctx: ctx => ctx, response: ctx => ctx.response, res: ctx => ctx.res, stream: ctx => ctx.res.stream }

function membersOf (object) {
  const names = new Set()
  for (let owner = object; owner !== null && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) names.add(name)
  }
  return [...names].filter(name => !name.startsWith('_')) // those are private
}

/** Apart from node:http and the front: by these what a response is made of has other objects. */
const OVER = { 'HTTP/1.1': undefined, 'HTTP/2': 'http2', 'app.fetch()': 'fetch' }

for (const [over, engine] of Object.entries(OVER)) {
  const only = engine === 'fetch' ? ['kone'] : engine ? share(['kone'], ['koa 2', 'kone']) : share(['koa 2', 'kone'], undefined)
  frameworks(`timeout over ${over}`, suite => late({ ...suite, engine }), only)
}

function late ({ it, Koa, ask, engine }) {
  /**
   * Requests whose handlers act behind the limit; a response is the thrown 503, or one of a middleware above.
   *
   * @param {Function[]} prepares each `ctx => act`, in time
   */
  async function late (prepares, isCaught = true) {
    const app = new Koa()
    app.silent = true
    app.on('error', () => {})
    const over = prepares.map(() => {
      const one = {}
      one.promise = new Promise(resolve => { one.resolve = resolve })
      return one
    })
    app.use(async (ctx, next) => {
      try { await next() } catch (err) {
        if (!isCaught) throw err
        await over[ctx.path.slice(1)].promise
        ctx.status = err.status
        ctx.body = 'sorry'
      }
    })
    app.use(timeout(1))
    app.use(async ctx => {
      const i = ctx.path.slice(1)
      ctx.set('X-Above', '1')
      ctx.set('Set-Cookie', ['above=1'])
      const act = prepares[i](ctx)
      ctx.signal.addEventListener('abort', () => {
        try { act(ctx) } catch {}
        over[i].resolve()
      })
      await new Promise(() => {})
    })
    const connected = engine && await connect(engine, app)
    const get = path => connected ? connected.ask(`GET ${path}`) : ask(app, `GET ${path}`)
    const responses = await Promise.all(prepares.map(async (_, i) => {
      const { status, headers, text } = await get(`/${i}`)
      await over[i].promise
      const { date, 'keep-alive': timeout, ...fields } = headers
      return { status, text, fields: JSON.stringify(fields) }
    }))
    await connected?.close()
    return responses
  }

  async function unchanged (acts) {
    for (const isCaught of [true, false]) {
      const [expected, ...seen] = await late([() => () => {}, ...acts.map(([, prepare]) => prepare)], isCaught)
      assert.equal(expected.status, 503)
      for (const [i, response] of seen.entries()) assert.deepEqual(response, expected, acts[i][0])
    }
  }

  for (const [what, objectOf] of Object.entries(OBJECTS)) {
    if (what === 'stream' && engine !== 'http2') continue
    it(`should know each member of ctx${what === 'ctx' ? '' : `.${what}`}`, async () => {
      let members
      await late([ctx => {
        members = membersOf(objectOf(ctx))
        return () => {}
      }])
      if (what === 'res') members = new Set([...members, ...membersOf(http2.Http2ServerResponse.prototype)])
      if (what === 'stream') members = members.filter(name => !(name in Readable.prototype))
      const known = [...Object.keys(CHANGES[what]), ...NOTHING[what], 'constructor', 'app', 'req', 'res', 'request', 'response', 'state', 'originalUrl', 'ctx', 'incoming', 'outgoing']
      assert.deepEqual([...members].filter(name => !known.includes(name)), [])
    })

    it(`should drop each late change by ctx${what === 'ctx' ? '' : `.${what}`}`, async () => {
      await unchanged(Object.entries(CHANGES[what]).flatMap(([name, ways]) => [ways].flat().flatMap(({ args, values = [] }) => [
        ...args === undefined
          ? []
          : [
              [`${what}.${name}(${args})`, () => ctx => objectOf(ctx)[name](...args)],
              [`${what}.${name} of before (${args})`, ctx => {
                const object = objectOf(ctx)
                return () => object[name](...args)
              }],
              [`${what}.${name} = a function`, () => ctx => { objectOf(ctx)[name] = () => {} }]
            ],
        ...values.map(value => [`${what}.${name} = ${value}`, () => ctx => { objectOf(ctx)[name] = value }])
      ])))
    })

    it(`should find out that nothing else changes a response by ctx${what === 'ctx' ? '' : `.${what}`}`, async () => {
      await unchanged(NOTHING[what].map(name => [`${what}.${name}`, () => ctx => {
        const value = objectOf(ctx)[name]
        if (typeof value === 'function') value.call(objectOf(ctx))
      }]))
    })
  }

  it('should drop a late change of a value that was handed out', async () => {
    const stream = () => new Readable({ read () {} })
    await unchanged([
      ...Object.entries(VALUES).flatMap(([what, valueOf]) => [
        [`${what}, before`, ctx => { const value = valueOf(ctx); return () => value.push('late=1') }],
        [`${what}, later`, () => ctx => valueOf(ctx).push('late=1')]
      ]),
      ['ctx.cookies, before', ctx => { const { cookies: { set }, cookies: jar } = ctx; return () => set.apply(jar, cookies.args) }],
      ['ctx.cookies, used before', ctx => { ctx.cookies.set('above', '1', { overwrite: true }); ctx.set('Set-Cookie', ['above=1']); return () => ctx.cookies.set('late', '1') }],
      ['ctx.cookies, later', () => ctx => ctx.cookies.set('late', '1')],
      ['ctx.set, bound', ctx => ctx.set.bind(ctx, 'X-Late', '1')],
      ['ctx.response.set, bound', ctx => ctx.response.set.bind(ctx.response, 'X-Late', '1')],
      ['ctx.res.setHeader, bound', ctx => ctx.res.setHeader.bind(ctx.res, 'X-Late', '1')],
      ['ctx.res.appendHeader, bound', ctx => ctx.res.appendHeader.bind(ctx.res, 'Set-Cookie', 'late=1')],
      ['ctx.res.removeHeader, bound', ctx => ctx.res.removeHeader.bind(ctx.res, 'X-Above')],
      ['ctx.res.writeHead, bound', ctx => ctx.res.writeHead.bind(ctx.res, 418)],
      ['ctx.res.write, bound', ctx => ctx.res.write.bind(ctx.res, 'late')],
      ['ctx.res.end, bound', ctx => ctx.res.end.bind(ctx.res, 'late')],
      ['ctx.res.flushHeaders, bound', ctx => ctx.res.flushHeaders.bind(ctx.res)],
      ['ctx.res.addTrailers, bound', ctx => ctx.res.addTrailers.bind(ctx.res, { 'X-Late': '1' })],
      ['ctx.res.destroy, bound', ctx => ctx.res.destroy.bind(ctx.res)],
      ['a stream', () => ctx => { ctx.body = stream() }]
    ])
  })

  it('should not sign out who gets a new id late', async () => {
    for (const order of [[timeout(1), session], [session, timeout(1)]]) {
      const store = storeOf()
      const app = new Koa()
      const errors = []
      app.on('error', err => errors.push(err.code))
      for (const fn of order) app.use(fn === session ? session({ store }) : (ctx, next) => ctx.path === '/late' ? fn(ctx, next) : next())
      app.use(async ctx => {
        if (ctx.path === '/in') ctx.session.user = 'ann'
        ctx.body = JSON.stringify(ctx.session)
        if (ctx.path !== '/late') return
        ctx.session.user = 'ada'
        await once(ctx.signal, 'abort')
        await ctx.session.regenerate()
      })
      const ann = visitor(ask, app)
      await ann('GET /in')
      assert.equal((await ann('GET /late')).status, 503)
      await until(() => errors.length > 1)
      assert.deepEqual([...new Set(errors)], ['KONE_ERR_TIMEOUT', 'ERR_HTTP_HEADERS_SENT'])
      assert.equal(store.sessions.size, 1)
      assert.match((await ann('GET /')).text, order[0] === session ? /ada/ : /ann/) // the outer session is saved with the 503
    }
  })
}
