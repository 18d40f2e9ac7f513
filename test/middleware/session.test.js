'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const session = require('kone/middleware/session')

const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')
const storeOf = require('../helpers/sessions')
const visitor = require('../helpers/visitor')
const until = require('../helpers/until')

const KEY = 'koa:sess'

/** A store of promises that remembers its calls. */
function recording (delay = 0) {
  const [calls, ttls] = [[], []]
  const store = storeOf(async (name, id, work, ttl) => {
    calls.push([name, id])
    if (name === 'set') ttls.push(ttl)
    await new Promise(resolve => setTimeout(resolve, delay))
    return work()
  })
  return { ...store, calls, ttls }
}

frameworks('session', ({ it, Koa, ask, errors, name }) => {
  function counting (options) {
    return new Koa().use(session(options)).use(ctx => {
      if (ctx.path === '/add') ctx.session.count = (ctx.session.count || 0) + 1
      if (ctx.path === '/clear') ctx.session = null
      if (ctx.path === '/renew') ctx.sessionHandler.regenerateId()
      ctx.body = ctx.path === '/untouched' ? 'hi' : { ...ctx.session }
    })
  }

  it('should send an HttpOnly, SameSite=Lax cookie without Secure over plain HTTP', async () => {
    const res = await visitor(ask, counting())('GET /add')
    assert.match(res.setCookie[KEY], /^koa:sess=[\w-]{32}; path=\/; samesite=lax; httponly$/)
  })

  it('should send a Secure cookie when ctx.secure', async () => {
    const app = counting()
    app.proxy = true
    const res = await visitor(ask, app)('GET /add', { headers: { 'X-Forwarded-Proto': 'https' } })
    assert.match(res.setCookie[KEY], /; secure/)
  })

  it('should let options.cookie say otherwise', async () => {
    const cookie = { httpOnly: false, sameSite: 'strict', path: '/add', domain: 'example.com', maxAge: 5000 }
    const app = counting({ key: 'sid', cookie })
    const res = await visitor(ask, app)('GET /add')
    assert.match(res.setCookie.sid, /; path=\/add; expires=\w+, .+; domain=example.com; samesite=strict$/)
  })

  it('should ask a function for the attributes', async () => {
    const store = recording()
    const app = counting({ store, cookie: ctx => ({ maxAge: ctx.session.count * 60_000 }) })
    const ann = visitor(ask, app)
    await ann('GET /add')
    await ann('GET /add')
    assert.deepEqual(store.ttls, [60_000, 120_000])
  })

  it('should ask it once for each session that is saved', async () => {
    let asked = 0
    const cookie = () => { asked++; return { maxAge: 60_000 } }
    await visitor(ask, counting({ cookie }))('GET /add')
    assert.equal(asked, 1)
  })

  it('should keep a session of a browser for a day', async () => {
    const store = recording()
    await visitor(ask, counting({ store }))('GET /add')
    assert.deepEqual(store.ttls, [24 * 3600 * 1000])
  })

  it('should keep a session of 30 days', async () => {
    const store = session.memory()
    const ann = visitor(ask, counting({ store, cookie: { maxAge: 30 * 24 * 3600 * 1000 } }))
    await ann('GET /add')
    assert.deepEqual((await ann('GET /')).json(), { count: 1 })
    const [{ expires }] = store.sessions.values()
    assert(expires > Date.now() + 29 * 24 * 3600 * 1000)
  })

  it('should forget a session after its maxAge', async t => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const ann = visitor(ask, counting({ cookie: { maxAge: 20 } }))
    await ann('GET /add')
    t.mock.timers.tick(19)
    assert.deepEqual((await ann('GET /')).json(), { count: 1 })
    t.mock.timers.tick(1)
    assert.deepEqual((await ann('GET /')).json(), {})
  })

  it('should read, write and send nothing for an untouched session', async () => {
    const store = recording()
    const ann = visitor(ask, counting({ store }))
    assert.equal((await ann('GET /untouched')).headers['set-cookie'], undefined)
    assert.equal((await ann('GET /')).headers['set-cookie'], undefined)
    assert.deepEqual(store.calls, [])
    await ann('GET /add')
    store.calls.length = 0
    assert.equal((await ann('GET /untouched')).headers['set-cookie'], undefined)
    assert.equal((await ann('GET /')).headers['set-cookie'], undefined)
    assert.deepEqual(store.calls.map(([name]) => name), ['get', 'get'])
  })

  it('should keep nothing anew in memory that was only read', async () => {
    const store = session.memory()
    const ann = visitor(ask, counting({ store }))
    await ann('GET /add')
    const [kept] = store.sessions.values()
    await ann('GET /')
    assert.equal([...store.sessions.values()][0], kept)
    await ann('GET /add')
    assert.notEqual([...store.sessions.values()][0], kept)
  })

  it('should not ask a lazy store before ctx.session is read', async () => {
    const store = session.memory()
    const ann = visitor(ask, counting({ store }))
    await ann('GET /add')
    let asked = 0
    const { get } = store
    store.get = id => { asked++; return get.call(store, id) }
    await ann('GET /untouched')
    assert.equal(asked, 0)
    await ann('GET /')
    assert.equal(asked, 1)
  })

  it('should save a session exactly when its JSON is another one', async () => {
    const store = recording()
    const ann = visitor(ask, [session({ store }), ctx => {
      ctx.session = JSON.parse(ctx.query.json)
      ctx.body = ''
    }])
    const saved = async value => {
      const before = store.calls.length
      await ann(`GET /?json=${encodeURIComponent(JSON.stringify(value))}`)
      return store.calls.slice(before).some(([name]) => name === 'set')
    }
    assert.equal(await saved({ a: 1, b: { c: 'x,y', d: [1, 2] } }), true)
    assert.equal(await saved({ a: 1, b: { c: 'x,y', d: [1, 2] } }), false)
    assert.equal(await saved({ a: 1, b: { c: 'x,z', d: [1, 2] } }), true) // as long as before
    assert.equal(await saved({ b: { d: [1, 2], c: 'x,z' }, a: 1 }), true) // in another order: as in koa-session
  })

  it('should destroy a session that becomes undefined, and its cookie', async () => {
    const store = recording()
    const ann = visitor(ask, [session({ store }), ctx => {
      ctx.session = ctx.path === '/clear' ? undefined : { user: 'ann' }
      ctx.body = ''
    }])
    await ann('GET /')
    assert.equal(store.sessions.size, 1)
    await ann('GET /clear')
    assert.deepEqual([ann.cookies, store.sessions.size], [{}, 0])
  })

  it('should write before the response', async () => {
    const store = recording(20)
    const ann = visitor(ask, counting({ store }))
    await ann('GET /add')
    assert.equal(store.sessions.size, 1)
  })

  it('should save what was changed before a throw', async () => {
    const store = recording()
    const app = [session({ store }), ctx => {
      ctx.session.attempts = (ctx.session.attempts || 0) + 1
      if (ctx.session.attempts === 3) throw new Error('boom')
      ctx.throw(401, `attempt ${ctx.session.attempts}`)
    }]
    const ann = visitor(ask, app)
    assert.equal((await ann('GET /')).text, 'attempt 1')
    assert.equal((await ann('GET /')).text, 'attempt 2')
    assert.equal((await ann('GET /')).status, 500)
    assert.equal((await ann('GET /')).text, 'attempt 4')
    assert.equal(store.sessions.size, 1)
  })

  it('should not put one client\'s cookie on an error object that all share', async () => {
    const shared = Object.assign(new Error('no'), { status: 403, expose: true, headers: { 'X-A': '1' } })
    const app = [session(), ctx => {
      if (ctx.path === '/add') ctx.session.user = 'ann'
      throw shared
    }]
    const res = await visitor(ask, app)('GET /add')
    assert.deepEqual([res.status, res.headers['x-a']], [403, '1'])
    assert.ok(res.setCookie[KEY])
    assert.equal((await visitor(ask, app)('GET /')).headers['set-cookie'], undefined)
  })

  it('should hand an error of the app on as it is', async () => {
    const err = new Error('boom')
    let caught
    const app = [(ctx, next) => next().catch(thrown => { caught = thrown; ctx.body = '' }), session(), ctx => {
      ctx.session.a = 1
      throw err
    }]
    const res = await visitor(ask, app)('GET /')
    assert.equal(caught, err)
    assert.ok(res.setCookie[KEY])
  })

  it('should survive throw null', { skip: name.startsWith('koa') && 'Koa never responds' }, async () => {
    const app = [session(), ctx => {
      ctx.session.a = 1
      throw null // eslint-disable-line no-throw-literal
    }]
    assert.equal((await ask(app, 'GET /')).status, 500)
  })

  it('should never take over an id that the client chose', async () => {
    const store = recording()
    const chosen = 'A'.repeat(32)
    const ann = visitor(ask, counting({ store }), { [KEY]: chosen })
    await ann('GET /add')
    assert.notEqual(ann.cookies[KEY], chosen)
    assert.deepEqual([...store.sessions.keys()], [`${KEY}:${ann.cookies[KEY]}`])
  })

  it('should begin anew when the store gives no object', async () => {
    for (const found of [[1, 2], [], 7, 'text', true, NaN, null, undefined, () => {}]) {
      for (const give of [() => found, async () => found]) {
        const store = recording()
        const ann = visitor(ask, counting({ store: { ...store, get: give } }), { [KEY]: 'A'.repeat(32) })
        const res = await ann('GET /add')
        assert.deepEqual([res.status, res.json()], [200, { count: 1 }], String(found))
        assert.notEqual(ann.cookies[KEY], 'A'.repeat(32))
      }
    }
  })

  it('should refuse an array in place of a session', async () => {
    const app = [session(), ctx => { ctx.session = [1] }]
    const before = errors.length
    const res = await ask(app, 'GET /')
    assert.deepEqual([res.status, res.headers['set-cookie']], [500, undefined])
    assert.match(errors[before].message, /^session: ctx\.session must be an object or null, not an array \(/)
  })

  it('should not ask the store for what cannot be an id', async () => {
    const store = recording()
    const app = counting({ store })
    for (const id of ['x', '../../etc/passwd', '*', '__proto__', 'A'.repeat(33), 'A'.repeat(31) + '%']) {
      assert.deepEqual((await visitor(ask, app, { [KEY]: id })('GET /')).json(), {})
    }
    assert.deepEqual(store.calls, [])
  })

  it('should know nothing of Object.prototype in memory', async () => {
    const store = session.memory()
    assert.equal(store.get('__proto__'), undefined)
    assert.equal(store.get('constructor'), undefined)
  })

  it('should give a new id on demand and destroy the old one', async () => {
    const store = recording()
    const ann = visitor(ask, counting({ store }))
    await ann('GET /add')
    const before = ann.cookies[KEY]
    await ann('GET /renew')
    const after = ann.cookies[KEY]
    assert.notEqual(after, before)
    assert.deepEqual([...store.sessions.entries()], [[`${KEY}:${after}`, '{"count":1}']])
    const thief = visitor(ask, counting({ store }), { [KEY]: before })
    assert.deepEqual((await thief('GET /')).json(), {})
  })

  it('should respond with 503 and set no cookie when the store fails, thrown or rejected', async () => {
    for (const fail of [async () => { throw new Error('down') }, () => { throw new Error('down') }]) {
      for (const method of ['get', 'set', 'destroy']) {
        const store = recording()
        const ann = visitor(ask, counting({ store }))
        await ann('GET /add')
        store[method] = fail
        errors.length = 0
        const res = await ann(method === 'destroy' ? 'GET /clear' : 'GET /add')
        assert.deepEqual([res.status, res.text, res.headers['set-cookie']], [503, 'Service Unavailable', undefined])
        assert.deepEqual([errors.length, errors[0].code], [1, 'KONE_ERR_SESSION_STORE'])
        assert.equal(errors[0].cause.message, 'down')
      }
    }
  })

  it('should respond with 5xx whatever status or code the store\'s error has', async () => {
    const err = Object.assign(new Error('secret path'), { code: 'ENOENT', status: 200, expose: true })
    const ann = visitor(ask, counting({ store: { ...recording(), set: async () => { throw err } } }))
    const res = await ann('GET /add')
    assert.deepEqual([res.status, res.text], [503, 'Service Unavailable'])
  })

  it('should tell of both errors when handler and store fail', async () => {
    const app = [session({ store: { ...recording(), set: async () => { throw new Error('down') } } }), ctx => {
      ctx.session.a = 1
      ctx.throw(400, 'bad')
    }]
    errors.length = 0
    assert.equal((await ask(app, 'GET /')).text, 'bad')
    assert.deepEqual(errors.map(err => err.message), ['the session store failed: down', 'bad'])
  })

  it('should respond with 5xx when the session has no JSON', async () => {
    const res = await ask([session(), ctx => {
      ctx.session.self = ctx.session
      ctx.body = ''
    }], 'GET /')
    assert.deepEqual([res.status, res.headers['set-cookie']], [500, undefined])
  })

  it('should not show to others what a failed request left unsaved in memory', async () => {
    const store = session.memory()
    const app = [session({ store }), ctx => {
      ctx.session.list ??= []
      if (ctx.path === '/bad') ctx.session.list.push(1n)
      ctx.body = { list: ctx.session.list.length }
    }]
    const ann = visitor(ask, app)
    await ann('GET /')
    assert.equal((await ann('GET /bad')).status, 500)
    assert.deepEqual((await ann('GET /')).json(), { list: 0 })
  })

  it('should hold two sessions at once, each with its own cookie', async () => {
    const app = [session({ key: 'outer' }), async (ctx, next) => {
      ctx.session.where = 'outer'
      await next()
      ctx.body += ctx.session.where
    }, session({ key: 'inner' }), ctx => {
      ctx.body = String(ctx.session.where)
      ctx.session.where = 'inner'
    }]
    const ann = visitor(ask, app)
    assert.equal((await ann('GET /')).text, 'undefinedouter')
    assert.equal((await ann('GET /')).text, 'innerouter')
    assert.deepEqual(Object.keys(ann.cookies), ['inner', 'outer'])
  })

  it('should restore the outer session, also after an error', async () => {
    const outer = session({ key: 'outer' })
    const app = [outer, async (ctx, next) => {
      ctx.session.where = 'outer'
      const caught = await next().catch(err => err.message)
      ctx.body = [caught, ctx.session.where]
    }, session({ key: 'inner' }), outer, ctx => {
      ctx.session.again = ctx.session.where
      throw new Error('boom')
    }]
    const res = await visitor(ask, app)('GET /')
    assert.deepEqual(res.json(), ['boom', 'outer'])
    assert.deepEqual(Object.keys(res.setCookie), ['outer'])
  })

  it('should read a store of promises only on demand when lazy', async () => {
    const store = recording()
    const app = [session({ store, lazy: true }), async ctx => {
      if (ctx.path !== '/early') await ctx.sessionHandler.load()
      ctx.session.count = (ctx.session.count || 0) + 1
      ctx.body = { ...ctx.session }
    }]
    const ann = visitor(ask, app)
    const free = [session({ store, lazy: true }), ctx => { ctx.body = '' }]
    assert.deepEqual((await ann('GET /early')).json(), { count: 1 }, 'without a cookie there is nothing to load')
    assert.deepEqual((await ann('GET /')).json(), { count: 2 })
    store.calls.length = 0
    await visitor(ask, free, ann.cookies)('GET /')
    assert.deepEqual(store.calls, [])
    errors.length = 0
    assert.equal((await ann('GET /early')).status, 500)
    assert.match(errors[0].message, /^session: with options\.lazy, `await ctx\.sessionHandler\.load\(\)` before the session is used \(/)
    assert.deepEqual((await ann('GET /')).json(), { count: 3 })
  })

  it('should let a request pass that does not use the session when the store fails, and report it', async () => {
    const store = recording()
    const app = counting({ store })
    const ann = visitor(ask, app)
    await ann('GET /add')
    for (const fail of [async () => { throw new Error('down') }, () => { throw new Error('down') }]) {
      store.get = fail
      errors.length = 0
      const res = await ann('GET /untouched')
      assert.deepEqual([res.status, res.text, res.setCookie], [200, 'hi', {}])
      assert.deepEqual(errors.map(err => [err.code, err.cause.message]), [['KONE_ERR_SESSION_STORE', 'down']])
      assert.equal((await ann('GET /')).status, 503)
      assert.equal(errors.length, 2)
    }
  })

  it('should let no shared cache store its cookie', async () => {
    for (const [given, expected] of [
      [undefined, 'private'],
      ['public, max-age=600', 'private, max-age=600'],
      ['max-age=600, s-maxage=60, Public', 'private, max-age=600'],
      ['no-cache', 'private, no-cache'],
      ['private="x-field", max-age=1', 'private, private="x-field", max-age=1'],
      ['no-store', 'no-store'],
      ['max-age=600, Private', 'max-age=600, Private'],
      [['public', 'max-age=600'], 'private, max-age=600']
    ]) {
      for (const name of ['Cache-Control', 'cache-control']) {
        const app = [session(), ctx => {
          ctx.session.user = 'ann'
          ctx.throw(404, { headers: given === undefined ? {} : { [name]: given } })
        }]
        assert.equal((await ask(app, 'GET /')).headers['cache-control'], expected, `an error with ${name}: ${given}`)
      }
      for (const early of [false, true]) {
        const app = [session({ rolling: true }), async ctx => {
          if (ctx.path === '/add') ctx.session.user = 'ann'
          if (early) await ctx.sessionHandler.save()
          if (given !== undefined) ctx.set('Cache-Control', given)
          ctx.body = ''
        }]
        const ann = visitor(ask, app)
        assert.equal((await ann('GET /add')).headers['cache-control'], expected, given)
        assert.equal((await ann('GET /static')).headers['cache-control'], expected, given)
      }
    }
  })

  it('should leave Cache-Control of a response without its cookie', async () => {
    const app = [session(), ctx => {
      if (ctx.path === '/add') ctx.session.user = 'ann'
      if (ctx.path === '/throw') {
        ctx.session.page = 'none'
        ctx.throw(404)
      }
      ctx.set('Cache-Control', 'public, max-age=600')
      ctx.body = ctx.session.user
    }]
    const ann = visitor(ask, app)
    assert.equal((await ann('GET /throw')).headers['cache-control'], 'private')
    assert.equal((await ann('GET /add')).headers['cache-control'], 'private, max-age=600')
    assert.equal((await ann('GET /')).headers['cache-control'], 'public, max-age=600')
  })

  it('should destroy an empty session that was saved', async () => {
    const store = recording()
    const app = [session({ store }), async ctx => {
      if (ctx.path === '/save') await ctx.sessionHandler.save()
      if (ctx.path === '/clear') ctx.session = null
      ctx.body = ''
    }]
    const ann = visitor(ask, app)
    await ann('GET /save')
    assert.equal(store.sessions.size, 1)
    await ann('GET /clear')
    assert.deepEqual([store.sessions.size, ann.cookies], [0, {}])
  })

  it('should destroy the record at the end when save() could not', async () => {
    const store = recording()
    const app = counting({ store })
    const clearing = [session({ store }), async ctx => {
      ctx.session = null
      const { destroy } = store
      store.destroy = async () => { throw new Error('down') }
      ctx.body = await ctx.sessionHandler.save().then(() => 'saved', err => err.code)
      store.destroy = destroy
    }]
    const ann = visitor(ask, app)
    await ann('GET /add')
    assert.equal((await visitor(ask, clearing, ann.cookies)('GET /')).text, 'KONE_ERR_SESSION_STORE')
    assert.equal(store.sessions.size, 0)
  })

  it('should be one session when it is used twice', async () => {
    const fn = session()
    const app = [fn, fn, ctx => { ctx.session.a = 1; ctx.body = '' }]
    assert.equal((await ask(app, 'GET /')).headers['set-cookie'].length, 1)
  })

  it('should leave ctx.session alone where it is not used', async () => {
    const fn = session()
    const app = [(ctx, next) => ctx.path === '/with' ? fn(ctx, next) : next(), ctx => {
      if (ctx.path === '/own') ctx.session = { mine: true }
      ctx.body = { session: ctx.session, handler: typeof ctx.sessionHandler }
    }]
    assert.deepEqual((await ask(app, 'GET /with')).json(), { session: {}, handler: 'object' })
    assert.deepEqual((await ask(app, 'GET /')).json(), { handler: 'undefined' })
    assert.deepEqual((await ask(app, 'GET /own')).json(), { session: { mine: true }, handler: 'undefined' })
  })

  it('should save without a cookie when the headers are sent already', async () => {
    const store = recording()
    const app = [session({ store }), ctx => {
      if (ctx.path === '/') {
        ctx.session.a = 1
        ctx.body = ''
        return
      }
      ctx.respond = false
      ctx.res.end('done')
      ctx.session.a = 2
    }]
    const ann = visitor(ask, app)
    await ann('GET /')
    assert.equal((await ann('GET /raw')).text, 'done')
    const saved = () => store.sessions.get(`${KEY}:${ann.cookies[KEY]}`)
    await until(() => saved() !== '{"a":1}')
    assert.equal(saved(), '{"a":2}')
  })
})

describe('a store that never responds', () => {
  it('should fail the request after 5 s', async () => {
    const app = new Kone()
    const errors = []
    app.on('error', err => errors.push(err))
    app.use(session({ store: { ...recording(), set: () => new Promise(() => {}) } }))
    app.use(ctx => { ctx.session.a = 1; ctx.body = '' })
    assert.equal((await app.inject('/')).status, 503)
    assert.equal(errors[0].cause.code, 'KONE_ERR_STORE_TIMEOUT')
  })
})

describe('a store that failed', () => {
  it('should be probed with success also if it parses what it does not find', async () => {
    let isUp = true
    const store = storeOf(async (name, id, work) => {
      if (!isUp) throw new Error('down')
      return name === 'get' ? JSON.parse(store.sessions.get(id)) : work() // a SyntaxError for undefined
    })
    const sessionOf = session({ store })
    const app = new Kone({ silent: true }).use(sessionOf)
      .use(ctx => { ctx.body = { count: ctx.session.count = (ctx.session.count || 0) + 1 } })
    const ann = visitor((app, line, options) => app.inject({ url: line.split(' ')[1], ...options }), app)
    assert.equal((await ann('GET /')).status, 200)
    isUp = false
    await Promise.all(Array.from({ length: 5 }, () => ann('GET /')))
    assert.equal(sessionOf.isStoreUp, false)
    isUp = true
    await until(() => sessionOf.isStoreUp)
    assert.deepEqual((await ann('GET /')).json(), { count: 2 })
  })
})

describe('a store that rejects what it does not know', () => {
  /** As one of files does: also for the key of a probe. */
  function strict () {
    const store = storeOf(async (name, id, work) => {
      if (store.isHanging) await new Promise(() => {})
      if (name === 'get' && !store.sessions.has(id)) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
      return work()
    })
    const errors = []
    const app = new Kone()
    app.on('error', err => errors.push(err))
    const sessionOf = session({ store })
    app.use(sessionOf)
    app.use(ctx => { ctx.body = { count: ctx.session.count = (ctx.session.count || 0) + 1 } })
    const ann = visitor((app, line, options) => app.inject({ url: line.split(' ')[1], ...options }), app)
    const forged = () => app.inject({ url: '/', headers: { cookie: `${KEY}=${'f'.repeat(32)}` } })
    return { store, sessionOf, errors, ann, forged }
  }

  it('should stay available to others, however many ids are forged', async () => {
    const { sessionOf, errors, ann, forged } = strict()
    assert.equal((await ann('GET /')).status, 200)
    for (let count = 2; count < 6; count++) {
      for (let i = 0; i < 12; i++) assert.equal((await forged()).status, 503)
      assert.equal(sessionOf.isStoreUp, false)
      assert.deepEqual(errors.splice(0).map(({ cause }) => cause.code),
        [...Array(5).fill('ENOENT'), ...Array(7).fill('KONE_ERR_STORE_DOWN')])
      const res = await ann('GET /')
      assert.deepEqual([res.status, res.json()], [200, { count }])
      assert.equal(sessionOf.isStoreUp, true)
    }
  })

  it('should be available again after it hung, although it rejects the probe', async () => {
    const { store, sessionOf, errors, ann } = strict()
    assert.equal((await ann('GET /')).status, 200)
    store.isHanging = true
    const failing = await Promise.all(Array.from({ length: 5 }, () => ann('GET /')))
    assert.deepEqual(failing.map(({ status }) => status), Array(5).fill(503))
    assert.deepEqual(errors.splice(0).map(({ cause }) => cause.code), Array(5).fill('KONE_ERR_STORE_TIMEOUT'))
    for (let i = 0; i < 12; i++) assert.equal((await ann('GET /')).status, 503) // else 5 s for each
    assert.equal(errors.every(({ cause }) => cause.code === 'KONE_ERR_STORE_DOWN'), true)
    store.isHanging = false
    await until(async () => (await ann('GET /')).status === 200)
    assert.equal(sessionOf.isStoreUp, true)
    assert.deepEqual((await ann('GET /')).json(), { count: 3 })
  })
})

describe('session.final()', () => {
  it('should save what a final function changed', async () => {
    const app = new Kone().use(session()).use(ctx => { ctx.body = '' })
    app.final(ctx => { ctx.session.late = true })
    app.final(session.final())
    assert.match((await app.inject('/')).headers['set-cookie'][0], /^koa:sess=/)
  })

  it('should do nothing without a session', async () => {
    const app = new Kone().use(ctx => { ctx.body = 'hi' })
    app.final(session.final())
    assert.equal((await app.inject('/')).text(), 'hi')
  })
})

describe('session(options)', () => {
  it('should warn of memory in a cluster worker, and let the process end', async () => {
    const worker = path.join(__dirname, 'fixtures', 'session-worker.js')
    const { stderr } = await promisify(execFile)(process.execPath, [worker], { timeout: 120_000 })
    assert.match(stderr, /KONE_SESSION_MEMORY/)
  })

  it('should sweep expired sessions out of memory', () => {
    const store = session.memory()
    store.set('old', { a: 1 }, -1)
    store.set('new', { a: 1 }, 60_000)
    store.sweep()
    assert.deepEqual([...store.sessions.keys()], ['new'])
    store.destroy('new')
    store.sweep()
    assert.equal(store.timer, null)
  })
})
