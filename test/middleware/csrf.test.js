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
const session = require('kone/middleware/session')
const globs = require('../../middleware/csrf/globs')

const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')
const visitor = require('../helpers/visitor')

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

frameworks('csrf', ({ it, Koa, ask, errors }) => {
  function site (options, protect = csrf(options)) {
    return new Koa().use(session()).use(bodyParser()).use(protect).use(ctx => {
      if (ctx.path === '/renew') ctx.sessionHandler.regenerateId()
      if (ctx.path === '/signout') ctx.session = null
      ctx.body = ctx.path === '/static' || ctx.method !== 'GET' ? 'OK' : ctx.state._csrf
    })
  }

  const post = (_csrf, headers) => ({ headers: { ...FORM, ...headers }, body: `_csrf=${_csrf ?? ''}` })

  it('should accept the token from body, query and four headers', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    assert.equal((await ann('POST /', post(token))).text, 'OK')
    assert.equal((await ann(`POST /?_csrf=${token}`)).text, 'OK')
    for (const name of ['csrf-token', 'xsrf-token', 'x-csrf-token', 'x-xsrf-token']) {
      assert.equal((await ann('POST /', { headers: { [name]: token } })).text, 'OK', name)
      assert.equal((await ann('DELETE /', { headers: { [name]: token } })).text, 'OK', name)
    }
  })

  it('should refuse what has no token, a wrong one or another visitor\'s', async () => {
    const app = site()
    const ann = visitor(ask, app)
    const bob = visitor(ask, app)
    const { text: token } = await ann('GET /')
    const { text: bobs } = await bob('GET /')
    const wrong = ['', ' ', 'x', bobs, token.slice(4), token + 'AAAA', token.slice(0, 4) + 'AAAA' + token.slice(8)]
    for (const sent of wrong) {
      const res = await ann('POST /', post(sent))
      assert.equal(res.status, 403, sent)
      assert.equal(res.text, 'Invalid CSRF token')
    }
    assert.equal((await ann('POST /')).status, 403)
    assert.equal((await visitor(ask, app)('POST /', post(token))).status, 403)
  })

  it('should refuse every other spelling of a valid token', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    const half = token.length / 2
    for (const junk of ['!', '=', '==', '%', '\n', ' ', '.', '\u00e9']) {
      for (const wrong of [token + junk, junk + token, token.slice(0, half) + junk + token.slice(half)]) {
        const json = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ _csrf: wrong }) }
        assert.equal((await ann('POST /', json)).status, 403, wrong)
      }
    }
    assert.equal((await ann('POST /', post(token))).text, 'OK')
  })

  it('should take the first token that is there, as koa-csrf does', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    assert.equal((await ann(`POST /?_csrf=${token}`, post('wrong'))).status, 403)
    assert.equal((await ann(`POST /?_csrf=${token}`, post(''))).status, 200)
  })

  it('should ignore a token that is no text', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    assert.equal((await ann(`POST /?_csrf=${token}&_csrf=${token}`)).status, 403)
    const json = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ _csrf: [token] }) }
    assert.equal((await ann('POST /', json)).status, 403)
  })

  it('should accept a token of koa-csrf\'s session', async () => {
    const [theirs, ours] = [new KoaCsrf(), csrf()]
    const ann = visitor(ask, site(undefined, (ctx, next) => (ctx.path === '/theirs' ? theirs : ours)(ctx, next)))
    assert.equal((await ann('POST /theirs', post((await ann('GET /theirs')).text))).text, 'OK')
    assert.equal((await ann('POST /', post((await ann('GET /')).text))).text, 'OK')
  })

  it('should mask the token anew in every response and accept each of them', async () => {
    const ann = visitor(ask, site())
    const tokens = []
    for (let i = 0; i < 5; i++) tokens.push((await ann('GET /')).text)
    assert.equal(new Set(tokens).size, 5)
    for (const token of tokens) assert.equal((await ann('POST /', post(token))).text, 'OK')
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
    assert.equal((await ann('POST /', post('x'))).headers['set-cookie'], undefined)
    assert.ok((await ann('GET /')).headers['set-cookie'])
  })

  it('should let Sec-Fetch-Site decide where there is one', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    for (const value of ['same-origin', 'none']) {
      assert.equal((await ann('POST /', { headers: { 'Sec-Fetch-Site': value } })).text, 'OK')
      const headers = { 'Sec-Fetch-Site': value, Origin: 'https://behind.a.proxy' }
      assert.equal((await ann('POST /', { headers })).text, 'OK')
    }
    const refused = ['cross-site', 'same-site', 'Same-Origin', 'same-origin, cross-site', 'junk', 'null']
    for (const value of refused) {
      assert.equal((await ann('POST /', post(token, { 'Sec-Fetch-Site': value }))).status, 403, value)
    }
  })

  it('should let Origin decide where there is no Sec-Fetch-Site', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    const Host = 'example.com'
    assert.equal((await ann('POST /', { headers: { Host, Origin: 'http://example.com' } })).text, 'OK')
    for (const Origin of [
      'http://evil.com', 'https://example.com', 'http://example.com:8080', 'http://example.com.evil.com',
      'http://sub.example.com', 'NULL', 'null, null', 'example.com', 'http://example.com/', 'http://evil.com, http://example.com'
    ]) assert.equal((await ann('POST /', post(token, { Host, Origin }))).status, 403, Origin)
  })

  it('should let the token decide where Origin is null', async () => {
    const app = site()
    const ann = visitor(ask, app)
    const { text: bobs } = await visitor(ask, app)('GET /')
    const { text: token } = await ann('GET /')
    assert.equal((await ann('POST /', post(token, { Origin: 'null' }))).text, 'OK')
    for (const wrong of ['', 'x', bobs]) assert.equal((await ann('POST /', post(wrong, { Origin: 'null' }))).status, 403)
    assert.equal((await ann('POST /', post(token, { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }))).status, 403)
  })

  it('should not believe a forwarded host unless the app does', async () => {
    const headers = { Host: 'example.com', 'X-Forwarded-Host': 'evil.com', Origin: 'http://evil.com' }
    assert.equal((await ask(site(), 'POST /', { headers })).status, 403)
  })

  it('should survive a new session id and the end of a session', async () => {
    const ann = visitor(ask, site())
    const { text: token } = await ann('GET /')
    await ann('GET /renew')
    assert.equal((await ann('POST /', post(token))).text, 'OK')
    const { status, text: fresh } = await ann('GET /signout')
    assert.equal(status, 200)
    assert.equal((await ann('POST /', post(token))).status, 403)
    assert.equal((await ann('POST /', post(fresh))).text, 'OK')
  })

  it('should take koa-csrf\'s options', async () => {
    const app = site({
      errorHandler (ctx) {
        ctx.status = 418
        ctx.body = 'no'
      },
      excludedMethods: ['get', 'PUT'],
      disableQuery: true,
      ignoredPathGlobs: ['/hooks/**', '!/hooks/admin/**']
    })
    const ann = visitor(ask, app)
    const { text: token } = await ann('GET /')
    assert.equal((await ann(`POST /?_csrf=${token}`)).status, 418)
    assert.equal((await ann('PUT /')).text, 'OK')
    assert.equal((await ann('OPTIONS /')).status, 418)
    assert.equal((await ann('POST /hooks/a/b')).text, 'OK')
    assert.equal((await ann('POST /hooks/admin/x')).status, 418)
  })

  it('should not ignore a path that is spelled like an ignored one', async () => {
    const app = site({ ignoredPathGlobs: ['/hooks/**', '/open'] })
    for (const path of [
      '/hooks/../transfer', '/hooks/%2e%2e/transfer', '/hooks/%2E./transfer', '/hooks/..%2ftransfer',
      '/hooks\\..\\transfer', '/hooks/..%5ctransfer', '/Open', '//open', '/open/x', '/hooks/' + 'a/'.repeat(2000)
    ]) assert.equal((await ask(app, `POST ${path}`)).status, 403, path)
  })

  it('should work without a body parser', async () => {
    assert.equal((await ask([session(), csrf(), ctx => { ctx.body = 'OK' }], 'POST /', post('x'))).status, 403)
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
