'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { inspect } = require('node:util')
const createError = require('http-errors')
const { cors, helmet, rateLimit, requestId, session, upload } = require('kone/middleware')
const frameworks = require('../helpers/frameworks')

const POLICY = { directives: { scriptSrc: [() => "'nonce-1'"] } }
const HELMET = [
  'content-security-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy', 'origin-agent-cluster',
  'referrer-policy', 'strict-transport-security', 'x-content-type-options', 'x-dns-prefetch-control', 'x-download-options',
  'x-frame-options', 'x-permitted-cross-domain-policies', 'x-xss-protection'
]

const IN_HEADER = { get: () => undefined, set: (ctx, id) => ctx.set('X-Session', id) }

/** The middleware of the set whose headers a response needs whatever its status is. */
const KEPT = {
  requestId: [() => requestId(), ['x-request-id']],
  'requestId by another name': [() => requestId({ expose: 'X-Id' }), ['x-id']],
  cors: [() => cors({ origin: 'https://a.example', credentials: true }), ['access-control-allow-origin', 'vary']],
  'cors of a function': [() => cors({ origin: ctx => ctx.get('origin') }), ['access-control-allow-origin', 'vary']],
  helmet: [() => helmet(), HELMET],
  'helmet with a nonce': [() => helmet({ contentSecurityPolicy: POLICY }), HELMET],
  'one of helmet': [() => helmet.hsts(), ['strict-transport-security']],
  'a policy of helmet that is only reported': [
    () => helmet.contentSecurityPolicy({ ...POLICY, reportOnly: true }), ['content-security-policy-report-only']
  ],
  'rateLimit whose onLimited fails': [
    () => (ctx, next) => rateLimit({ max: 0, onLimited: next })(ctx), ['x-ratelimit-limit', 'x-ratelimit-reset', 'retry-after']
  ],
  rateLimit: [() => rateLimit({ max: 5 }), ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
  'rateLimit with the fields of the IETF': [() => rateLimit({ max: 5, standardHeaders: 'draft-11' }), ['ratelimit', 'ratelimit-policy']],
  session: [() => changed(session()), ['set-cookie', 'cache-control']],
  'session with externalKey': [() => changed(session({ externalKey: IN_HEADER })), ['x-session', 'cache-control']]
}

function changed (fn) {
  return (ctx, next) => fn(ctx, () => {
    ctx.session.user = 'ann'
    return next()
  })
}

frameworks('the headers of an error', ({ it, ask, name }) => {
  const get = app => ask(app, 'GET /', { headers: { origin: 'https://a.example' } })
  const failures = {
    404: ctx => ctx.throw(404),
    422: ctx => ctx.throw(422, 'no', { headers: { 'X-Own': 'a' } }),
    500: () => { throw new Error('boom') },
    503: async ctx => { await null; ctx.throw(503) }
  }
  const cycle = {}
  cycle.self = cycle
  const unexpected = {
    'a value that is no Error': () => { throw 'text' }, // eslint-disable-line no-throw-literal
    'a body without JSON': ctx => { ctx.body = cycle },
    // Koa 3 closes the connection
    ...name !== 'koa 3' && { 'a stream that fails': ctx => { ctx.body = new Readable({ read () { this.destroy(new Error('boom')) } }) } }
  }

  for (const [title, [make, names]] of Object.entries(KEPT)) {
    it(`should have those of ${title}`, async () => {
      for (const [status, fail] of Object.entries(failures)) {
        const res = await get([make(), fail])
        assert.equal(res.status, Number(status))
        for (const name of names) assert(res.headers[name], `${name} of a ${status}`)
        assert.equal(res.headers['x-own'], status === '422' ? 'a' : undefined)
      }
      for (const [what, fail] of Object.entries(unexpected)) {
        const res = await get([make(), fail])
        assert.equal(res.status, 500, what)
        for (const name of names) assert(res.headers[name], `${name} of ${what}`)
      }
    })
  }

  it('should have those of all, and of this request, although one object is thrown again', async () => {
    const err = new Error('again')
    const app = [...Object.values(KEPT).map(([make]) => make()), () => { throw err }]
    const [one, two] = [await get(app), await get(app)]
    for (const name of Object.values(KEPT).flatMap(([, names]) => names)) assert(one.headers[name], name)
    assert.notEqual(one.headers['x-id'], two.headers['x-id'])
    assert.equal(one.headers['x-ratelimit-remaining'], '4')
    assert.equal(two.headers['x-ratelimit-remaining'], '3')
  })

  it('should be those of each request, although one object fails them all, and of no other', async () => {
    const err = new Error('no connection') // of a promise that all wait for
    let fail
    const connected = new Promise((resolve, reject) => { fail = reject })
    let waiting = 0
    const made = [requestId(), rateLimit({ max: 5 }), cors({ origin: ctx => ctx.get('origin'), credentials: true })]
    const behind = made.map(fn => (ctx, next) => ctx.path === '/' ? fn(ctx, next) : next())
    const app = [...behind, () => {
      if (++waiting === 3) fail(err)
      return connected
    }]
    const ids = ['a', 'b', 'c']
    const all = await Promise.all(ids.map(id => ask(app, 'GET /', { headers: { 'x-request-id': id, origin: `https://${id}.example` } })))
    assert.deepEqual(all.map(({ headers }) => headers['x-request-id']), ids)
    assert.deepEqual(all.map(({ headers }) => headers['access-control-allow-origin']), ids.map(id => `https://${id}.example`))
    assert.deepEqual(new Set(all.map(({ headers }) => headers['x-ratelimit-remaining'])), new Set(['4', '3', '2']))
    const other = await ask(app, 'GET /other')
    assert.equal(other.status, 500)
    for (const name of ['x-request-id', 'x-ratelimit-remaining', 'access-control-allow-origin']) assert.equal(other.headers[name], undefined)
    assert.equal(Object.hasOwn(err, 'headers'), false)
  })

  it('should be those that were set before a middleware around it throws', async () => {
    const around = async (ctx, next) => {
      await next()
      throw new Error('boom')
    }
    for (const [title, [make, names]] of Object.entries(KEPT)) {
      const res = await get([around, make(), ctx => { ctx.body = 'hi' }])
      assert.equal(res.status, 500)
      for (const name of names) assert(res.headers[name], `${name} of ${title}`)
    }
  })

  it('should not be printed with the error: a log is no place for the cookie of a session', async () => {
    for (const headers of [undefined, { 'X-Own': 'a' }]) {
      let printed
      const listening = (ctx, next) => {
        ctx.app.once('error', err => { printed = inspect(err) + JSON.stringify(err) })
        return next()
      }
      const res = await get([listening, session(), helmet(), ctx => {
        ctx.session.user = 'ann'
        ctx.throw(500, 'boom', { headers })
      }])
      assert.match(String(res.headers['set-cookie']), /sess=/)
      assert.match(printed, /boom/)
      assert.doesNotMatch(printed, /sess=|nosniff/)
    }
  })

  const noResponse = name.startsWith('koa') && 'Koa has no response to a frozen error'
  it('should have those of each middleware beside those of a frozen error', { skip: noResponse }, async () => {
    for (const [title, [make, names]] of Object.entries(KEPT)) {
      const frozen = Object.freeze(createError(422, 'no', { headers: { 'X-Own': 'a' } }))
      const res = await get([make(), () => { throw frozen }])
      assert.equal(res.status, 422)
      for (const name of ['x-own', ...names]) assert(res.headers[name], `${name} of ${title}`)
      assert.deepEqual(frozen.headers, { 'X-Own': 'a' })
    }
  })

  it('should be none of another middleware, of the same name', async () => {
    const policies = ['cross-origin-opener-policy', 'cross-origin-embedder-policy']
    const own = (ctx, next) => {
      ctx.set({ 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' })
      return next()
    }
    for (const secureContext of [false, true]) {
      const res = await get([own, cors({ secureContext }), ctx => ctx.throw(422)])
      assert.deepEqual(policies.map(name => name in res.headers), [secureContext, secureContext])
    }
    const off = { crossOriginOpenerPolicy: false, crossOriginEmbedderPolicy: false }
    for (const options of [off, { ...off, contentSecurityPolicy: POLICY }]) {
      const res = await get([own, helmet(options), ctx => ctx.throw(422)])
      assert.deepEqual(policies.map(name => name in res.headers), [false, false])
    }
  })

  it('should be those of cors and of helmet in any order, with the value that the request got last', async () => {
    const made = [cors({ secureContext: true }), helmet({ crossOriginOpenerPolicy: { policy: 'unsafe-none' } })]
    for (const fns of [made, [...made].reverse()]) {
      const [ok, failed] = [await get([...fns, ctx => { ctx.body = 'hi' }]), await get([...fns, ctx => ctx.throw(422)])]
      for (const res of [ok, failed]) for (const name of ['date', 'content-length']) delete res.headers[name]
      assert.deepEqual(failed.headers, ok.headers)
    }
  })

  it('should be those that the error names, and not the defaults of helmet', async () => {
    for (const name of ['Content-Security-Policy', 'content-security-policy']) {
      const res = await get([helmet(), ctx => ctx.throw(422, { headers: { [name]: "default-src 'none'" } })])
      assert.equal(res.headers['content-security-policy'], "default-src 'none'")
    }
  })

  it('should be none that a handler has removed', async () => {
    const res = await get([helmet(), ctx => {
      ctx.remove('X-Frame-Options')
      ctx.throw(422)
    }])
    assert.equal(res.headers['x-frame-options'], undefined)
    assert.equal(res.headers['x-content-type-options'], 'nosniff')
  })

  it('should vary by what the error and the middleware name', async () => {
    for (const headers of [{ Vary: 'Accept' }, { vary: 'Accept' }]) {
      const res = await get([cors({ origin: 'https://a.example' }), ctx => ctx.throw(422, { headers })])
      assert.equal(res.headers.vary, 'Accept, Origin')
    }
  })

  it('should be those of an error in options.filter of upload, whose body is dropped', async () => {
    const body = '--b\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\na\r\n--b--\r\n'
    const form = { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body }
    const shared = createError(401, { headers: { 'WWW-Authenticate': 'Basic' } })
    const frozen = Object.freeze(createError(401, { headers: { 'WWW-Authenticate': 'Basic' } }))
    for (const thrown of noResponse ? [shared, shared] : [shared, shared, frozen]) {
      const res = await ask([upload({ filter: () => { throw thrown } })], 'POST /', form)
      assert.equal(res.status, 401)
      assert.equal(res.headers['www-authenticate'], 'Basic')
      assert.equal(res.headers.connection, 'keep-alive')
      assert.deepEqual(thrown.headers, { 'WWW-Authenticate': 'Basic' })
    }
  })
})
