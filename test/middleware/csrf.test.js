'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { describe, it } = require('node:test')
const KoaCsrf = require('koa-csrf')
const bodyParser = require('koa-bodyparser')
const multimatch = require('multimatch')
const picomatch = require('picomatch')
const csrf = require('kone/middleware/csrf')
const Router = require('kone/middleware/router')
const rpc = require('kone/middleware/rpc')
const session = require('kone/middleware/session')
const globs = require('../../middleware/csrf/globs')

const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')
const visitor = require('../helpers/visitor')

const form = (_csrf, headers) => ({ headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, body: `_csrf=${_csrf}` })
const json = _csrf => ({ headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ _csrf }) })
const OK = '200 OK'
const REFUSED = '403 Invalid CSRF token'
const Host = 'example.com'

/**
 * A row: a title, the options, and the visits of Ann, who has a session: (her token, Bob's token) => [line, request, status
 * and text that come].
 */
const ROWS = [
  ['should accept the token from body, query and four headers', {}, token => [
    ['POST /', form(token), OK], ['POST /', json(token), OK], [`POST /?_csrf=${token}`, {}, OK],
    ...['csrf-token', 'xsrf-token', 'x-csrf-token', 'x-xsrf-token'].flatMap(name =>
      ['POST /', 'DELETE /'].map(line => [line, { headers: { [name]: token } }, OK]))
  ]],
  ["should refuse what has no token, a wrong one or another visitor's", {}, (token, bobs) => [
    ...['', ' ', 'x', bobs, token.slice(4), token + 'AAAA', token.slice(0, 4) + 'AAAA' + token.slice(8)]
      .map(wrong => ['POST /', form(wrong), REFUSED]),
    ['POST /', {}, REFUSED], ['POST /', form(token, { cookie: '' }), REFUSED]
  ]],
  ['should refuse every other spelling of a valid token', {}, token => ['!', '=', '==', '%', '\n', ' ', '.', '\u00e9'].flatMap(junk =>
    [token + junk, junk + token, token.slice(0, 9) + junk + token.slice(9)].map(wrong => ['POST /', json(wrong), REFUSED]))],
  ['should take the first token that is there, as koa-csrf does', {}, token => [
    [`POST /?_csrf=${token}`, form('wrong'), REFUSED], [`POST /?_csrf=${token}`, form(''), OK]
  ]],
  ['should ignore a token that is no text', {}, token => [
    [`POST /?_csrf=${token}&_csrf=${token}`, {}, REFUSED], ['POST /', json([token]), REFUSED]
  ]],
  ['should let Sec-Fetch-Site decide where there is one', {}, token => [
    ...['same-origin', 'none'].flatMap(value => [{}, { Origin: 'https://behind.a.proxy' }]
      .map(more => ['POST /', { headers: { 'Sec-Fetch-Site': value, ...more } }, OK])),
    ...['cross-site', 'same-site', 'Same-Origin', 'same-origin, cross-site', 'junk', 'null']
      .map(value => ['POST /', form(token, { 'Sec-Fetch-Site': value }), REFUSED])
  ]],
  ['should let Origin decide where there is no Sec-Fetch-Site', {}, token => [
    ['POST /', { headers: { Host, Origin: 'http://example.com' } }, OK],
    ...[
      'http://evil.com', 'https://example.com', 'http://example.com:8080', 'http://example.com.evil.com',
      'http://sub.example.com', 'NULL', 'null, null', 'example.com', 'http://example.com/', 'http://evil.com, http://example.com'
    ].map(Origin => ['POST /', form(token, { Host, Origin }), REFUSED])
  ]],
  ['should let the token decide where Origin is null', {}, (token, bobs) => [
    ['POST /', form(token, { Origin: 'null' }), OK],
    ...['', 'x', bobs].map(wrong => ['POST /', form(wrong, { Origin: 'null' }), REFUSED]),
    ['POST /', form(token, { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }), REFUSED]
  ]],
  ['should not believe a forwarded host unless the app does', {}, token => [
    ['POST /', form(token, { Host, 'X-Forwarded-Host': 'evil.com', Origin: 'http://evil.com' }), REFUSED]
  ]],
  ["should take koa-csrf's options", {
    errorHandler (ctx) {
      ctx.status = 418
      ctx.body = 'no'
    },
    excludedMethods: ['get', 'PUT'],
    disableQuery: true,
    ignoredPathGlobs: ['/hooks/**', '!/hooks/admin/**']
  }, token => [
    [`POST /?_csrf=${token}`, {}, '418 no'], ['PUT /', {}, OK], ['OPTIONS /', {}, '418 no'],
    ['POST /hooks/a/b', {}, OK], ['POST /hooks/admin/x', {}, '418 no']
  ]],
  ['should not ignore a path that is spelled like an ignored one', { ignoredPathGlobs: ['/hooks/**', '/open'] }, () => [
    '/hooks/../transfer', '/hooks/%2e%2e/transfer', '/hooks/%2E./transfer', '/hooks/..%2ftransfer',
    '/hooks\\..\\transfer', '/hooks/..%5ctransfer', '/Open', '//open', '/open/x', '/hooks/' + 'a/'.repeat(2000)
  ].map(path => [`POST ${path}`, {}, REFUSED])]
]

frameworks('csrf', ({ it, Koa, ask, errors }) => {
  function site (options, protect = csrf(options)) {
    return new Koa().use(session()).use(bodyParser()).use(protect).use(ctx => {
      if (ctx.path === '/renew') ctx.sessionHandler.regenerateId()
      if (ctx.path === '/signout') ctx.session = null
      ctx.body = ctx.path === '/static' || ctx.method !== 'GET' ? 'OK' : ctx.state._csrf
    })
  }

  for (const [title, options, visitsOf] of ROWS) {
    it(title, async () => {
      const app = site(options)
      const [ann, bob] = [visitor(ask, app), visitor(ask, app)]
      const visits = visitsOf((await ann('GET /')).text, (await bob('GET /')).text)
      const found = []
      for (const [line, request] of visits) {
        const { status, text } = await ann(line, request)
        found.push([line, request, `${status} ${text}`])
      }
      assert.deepEqual(found, visits)
    })
  }

  it('should accept a token of koa-csrf\'s session', async () => {
    const [theirs, ours] = [new KoaCsrf(), csrf()]
    const ann = visitor(ask, site(undefined, (ctx, next) => (ctx.path === '/theirs' ? theirs : ours)(ctx, next)))
    assert.equal((await ann('POST /theirs', form((await ann('GET /theirs')).text))).text, 'OK')
    assert.equal((await ann('POST /', form((await ann('GET /')).text))).text, 'OK')
  })

  it('should mask the token anew in every response and accept each of them', async () => {
    const ann = visitor(ask, site())
    const tokens = []
    for (let i = 0; i < 5; i++) tokens.push((await ann('GET /')).text)
    assert.equal(new Set(tokens).size, 5)
    for (const token of tokens) assert.equal((await ann('POST /', form(token))).text, 'OK')
    // no two share a run of characters that compression could be steered by
    for (let i = 0; i + 6 <= tokens[0].length; i++) assert.ok(!tokens[1].includes(tokens[0].slice(i, i + 6)))
  })

  it('should give one token per response', async () => {
    const app = [session(), csrf(), ctx => {
      ctx.body = ctx.state._csrf === ctx.state._csrf // eslint-disable-line no-self-compare
    }]
    assert.equal((await ask(app, 'GET /')).text, 'true')
  })

  it('should make no session before the token is read', async () => {
    const app = site()
    const ann = visitor(ask, app)
    assert.equal((await ann('GET /static')).headers['set-cookie'], undefined)
    assert.equal((await ann('POST /', { headers: { 'Sec-Fetch-Site': 'same-origin' } })).headers['set-cookie'], undefined)
    assert.equal((await ann('POST /', form('x'))).headers['set-cookie'], undefined)
    assert.ok((await ann('GET /')).headers['set-cookie'])
  })

  it('should survive a new session id and the end of a session', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    await ann('GET /renew')
    assert.equal((await ann('POST /', form(token))).text, 'OK')
    const { status, text: fresh } = await ann('GET /signout')
    assert.equal(status, 200)
    assert.equal((await ann('POST /', form(token))).status, 403)
    assert.equal((await ann('POST /', form(fresh))).text, 'OK')
  })

  it('should refuse a form that no body parser has read', async () => {
    assert.equal((await ask([session(), csrf(), ctx => { ctx.body = 'OK' }], 'POST /', form('x'))).status, 403)
  })

  it('should ignore no spelling of a function of rpc() but that of an ignored one', async () => {
    const called = []
    const methods = { open: () => called.push('open'), transfer: () => called.push('transfer'), 'free/x': () => called.push('free/x') }
    const app = [session(), csrf({ ignoredPathGlobs: ['/rpc/open*', '/rpc/free/**'] }), rpc(methods)]
    for (const path of [
      'transfer', 'open/../transfer', 'free/../transfer', 'free/%2e%2e/transfer', '%74ransfer', 'open%2f..%2ftransfer', 'transfer?/rpc/open',
      '/transfer', 'open;/transfer', 'free%2fx', 'transfer%00', 'open%0a../transfer', './transfer', 'open', 'free/x'
    ]) await ask(app, `POST /rpc/${path}`, { headers: { 'Content-Type': 'application/json' }, body: '[]' })
    assert.deepEqual(called, ['open', 'free/x'])
  })

  it('should say so when there is no session to read', async () => {
    const app = [csrf(), ctx => { ctx.body = ctx.path === '/form' ? ctx.state._csrf : 'OK' }]
    assert.equal((await ask(app, 'GET /')).text, 'OK')
    assert.equal((await ask(app, 'POST /', { headers: { 'csrf-token': 'x' } })).status, 500)
    assert.equal((await ask(app, 'GET /form')).status, 500)
    assert.match(errors.at(-1).message, /csrf: there is no ctx\.session/)
  })

  it('should leave a token of the app\'s own alone', async () => {
    const app = [(ctx, next) => {
      ctx.state._csrf = 'mine'
      return next()
    }, session(), csrf(), ctx => { ctx.body = ctx.state._csrf }]
    assert.equal((await ask(app, 'GET /')).text, 'mine')
  })
})

describe('ignoredPathGlobs', () => {
  const PARTS = ['a', 'b', 'ab', '.a', '*', 'a*', '*b', '?', '[ab]', '{a,b}', '**', 'a.b', '*.js', '\\*', '.*', 'a**',
    '{a,b{a,c}}', 'a*b*c', '*a?b*']
  const NAMES = ['a', 'b', 'ab', '.a', 'aab', 'a.b', 'x.js', '*', 'ba', 'abac', 'aaab']

  /** Random globs and paths: `check(join, rnd)`, `join(parts)` gives `/part/part`. */
  function sample (check) {
    for (let seed = 1; seed <= 20_000; seed++) {
      const rnd = random(seed)
      check(list => '/' + Array.from({ length: 1 + rnd.int(3) }, () => rnd.pick(list)).join('/'), rnd)
    }
  }

  it('should match as multimatch does', () => {
    const parts = [...PARTS, '[!a]', '..']
    const names = [...NAMES, '..']
    sample((join, rnd) => {
      const patterns = Array.from({ length: 1 + rnd.int(2) }, () => join(parts))
      const path = join(names) + (rnd.chance(0.1) ? '/' : '')
      assert.equal(globs(patterns)(path), multimatch(path, patterns).length > 0, `${patterns} ${path}`)
    })
  })

  // Without the first slash, of which picomatch makes something else in front of `**`, nor the last one.
  const picks = (pattern, options, path) => picomatch(pattern.slice(1), options)(path.slice(1))
  const judges = pattern => !pattern.endsWith('/**') // there picomatch contradicts itself: a/** matches a, a*/** not aa

  it('should match as picomatch does', () => {
    sample(join => {
      const pattern = join([...PARTS, '[^a]'])
      const path = join([...NAMES, 'A', 'Ab'])
      if (judges(pattern)) assert.equal(globs([pattern])(path), picks(pattern, {}, path), `${pattern} ${path}`)
    })
  })

  it('should match what is negated in any letter case, and with a dot in front', () => {
    const everything = ['/**', '/.*/**', '/**/.*', '/**/.*/**', '/.*/**/.*', '/.*/.*/**', '/.*/.*/.*', '/**/.*/.*']
    sample(join => {
      const pattern = join([...PARTS, 'Ab'])
      const path = join([...NAMES, 'A', 'aB'])
      assert(globs(everything)(path))
      if (!judges(pattern)) return
      const expected = !picks(pattern, { nocase: true, dot: true }, path)
      assert.equal(globs([...everything, `!${pattern}`])(path), expected, `${pattern} ${path}`)
    })
  })

  it('should negate whatever the router would match', () => {
    const spellings = ['admin', 'ADMIN', 'Admin', '%61dmin', '%41dmin', '\xc4dmin', '\xe4dmin', 'ad%6din', 'x', '.x', 'x.y']
    const isIgnored = globs(['/hooks/**', '/hooks/**/.*', '!/hooks/admin/**', '!/hooks/\xe4dmin/**', '!/*/x/*'])
    const router = new Router()
    for (const path of ['/hooks/admin', '/hooks/admin/:id', '/hooks/admin/(.*)', '/hooks/\xe4dmin/:id', '/:a/x/:b']) {
      router.post(path, () => {})
    }
    let matched = 0
    sample((join, rnd) => {
      const path = rnd.pick(['/hooks', '/HOOKS']) + join(spellings) + rnd.pick(['', '/'])
      if (!router.match(path, 'POST').route) return
      matched++
      assert.equal(isIgnored(path), false, path)
    })
    assert(matched > 1000)
    assert.equal(isIgnored('/hooks/%61dmin/1'), false) // a handler of /hooks/:area gets 'admin'
    assert.equal(isIgnored('/hooks/x'), true)
    assert.equal(isIgnored('/hooks/%E0%A4%A'), true) // what no router can decode
  })

  it('should stay cheap for any path', () => {
    const isIgnored = globs(['/**/a/**/b/**/c/*x*y*z'])
    assert.equal(isIgnored('/a/b/'.repeat(400)), false)
    assert.equal(isIgnored('/a/b/c/' + 'x'.repeat(2000)), false)
  })
})

describe('why a request is refused', () => {
  const TOKEN = { 'csrf-token': Buffer.alloc(2 * 24).toString('base64url') }

  for (const [headers, reason, store = { secret: 'x'.repeat(24) }] of [
    [{ 'sec-fetch-site': 'cross-site' }, 'Sec-Fetch-Site is neither'],
    [{ origin: 'http://evil.example' }, "Origin is not the app's own"],
    [{}, 'no token'],
    [TOKEN, 'its session has no secret', {}],
    [TOKEN, 'its session has no secret', null],
    [TOKEN, 'its token is not of this session']
  ]) {
    it(`should be printed in development, and not be in the response: ${reason}, ${JSON.stringify(store)}`, () => {
      const script = `
        const Kone = require('kone')
        const { csrf } = require('kone/middleware')
        const app = new Kone()
        app.use((ctx, next) => { ctx.session = ${JSON.stringify(store)}; return next() }).use(csrf())
        const visit = () => app.inject({ method: 'POST', url: '/', headers: ${JSON.stringify(headers)} })
        visit().then(visit).then(res => console.log(res.status, res.text()))
      `
      for (const env of ['development', 'production']) {
        const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
          cwd: __dirname, encoding: 'utf8', env: { ...process.env, NODE_ENV: env }
        })
        assert.equal(stdout, '403 Invalid CSRF token\n', stderr)
        assert.equal(stderr.split('csrf refuses POST /: ').length, env === 'development' ? 2 : 1, stderr)
        if (env === 'development') assert(stderr.includes(reason), stderr)
      }
    })
  }
})
