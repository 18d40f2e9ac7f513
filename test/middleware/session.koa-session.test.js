'use strict'

const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const { default: original } = require('koa-session')
const session = require('kone/middleware/session')

const frameworks = require('../helpers/frameworks')
const storeOf = require('../helpers/sessions')
const visitor = require('../helpers/visitor')

const KEY = 'sid'
const HOUR = 3600e3

// koa-session's options and methods beside koa-session itself. Intentional differences: the session is not in
// the cookie, SameSite=Lax, and no maxAge is until the browser is closed.

frameworks('session with the options of koa-session', ({ it, Koa, ask, errors }) => {
  function counting (make, options, act = () => {}) {
    const app = new Koa()
    app.keys = ['some secret hurr']
    app.proxy = true
    app.use(make === original ? original({ key: KEY, ...options }, app) : make({ key: KEY, ...options }))
    app.use(async ctx => {
      if (ctx.path === '/add') ctx.session.count = (ctx.session.count || 0) + 1
      if (ctx.path === '/read') ctx.session // eslint-disable-line no-unused-expressions
      await act(ctx)
      ctx.body ??= JSON.parse(JSON.stringify(ctx.session))
    })
    return app
  }

  /** A client of an app with koa-session and one of an app with this one. */
  function twins (options, store, act) {
    const apps = [counting(original, options, act), counting(session, { ...options, store }, act)]
    return apps.map(app => visitor(ask, app))
  }

  const attributesOf = line => line?.split('; ').slice(1).map(one => one.replace(/^expires=.*/, 'expires')).sort()

  it('should send the cookie with the same attributes', async () => {
    for (const options of [
      { maxAge: HOUR, sameSite: 'lax' },
      { maxAge: HOUR, httpOnly: false, sameSite: 'strict', path: '/add', domain: 'example.com' },
      { maxAge: 'session', sameSite: 'none', secure: true },
      { maxAge: HOUR, secure: true, sameSite: 'lax', autoCommit: true, overwrite: true, rolling: false, renew: false },
      { maxAge: HOUR, signed: false, sameSite: 'strict' },
      { maxAge: HOUR, signed: true, sameSite: 'lax' }
    ]) {
      const headers = { 'X-Forwarded-Proto': 'https' }
      const [theirs, ours] = await Promise.all([original, session].map(async make => {
        const res = await visitor(ask, counting(make, { signed: false, ...options }))('GET /add', { headers })
        return [res.status, attributesOf(res.setCookie[KEY]), attributesOf(res.setCookie[`${KEY}.sig`])]
      }))
      assert.deepEqual(ours, theirs, JSON.stringify(options))
    }
  })

  it('should call back when it is saved or has a new id, which passport waits for', async () => {
    const called = async (ctx, name) => {
      const err = await new Promise(resolve => ctx.session[name](resolve))
      return [name, err === undefined || err === null]
    }
    const act = async ctx => {
      ctx.session.user = 'ada'
      ctx.body = [await called(ctx, 'save'), await called(ctx, 'regenerate')]
    }
    for (const visit of twins({ maxAge: HOUR }, undefined, act)) {
      const res = await visit('GET /')
      assert.deepEqual(JSON.parse(res.text), [['save', true], ['regenerate', true]])
    }
  })

  it('should call back with the error of a store that fails', async () => {
    const away = () => { throw new Error('away') }
    const app = counting(session, { store: { get: away, set: away, destroy: away } }, async ctx => {
      ctx.session.user = 'ada'
      const err = await new Promise(resolve => ctx.session.save(resolve))
      ctx.session = null
      ctx.body = err.code
    })
    assert.match((await visitor(ask, app)('GET /')).text, /KONE_ERR_SESSION_STORE|Service Unavailable/)
  })

  it('should leave SameSite out where it is null, as the README of koa-session has it', async () => {
    const res = await visitor(ask, counting(session, { sameSite: null }))('GET /add')
    assert.deepEqual(attributesOf(res.setCookie[KEY]), ['httponly', 'path=/'])
  })

  it('should refuse to send a secure cookie over plain HTTP, with an error', async () => {
    for (const make of [original, session]) {
      assert.equal((await visitor(ask, counting(make, { secure: true, signed: false }))('GET /add')).status, 500)
    }
  })

  it('should make ids with genid', async () => {
    let made = 0
    const genid = ctx => `${ctx.method.toLowerCase()}-000000000000000-${++made}`
    const store = promising()
    const ann = visitor(ask, counting(session, { store, genid }, async ctx => {
      if (ctx.path === '/sign-in') await ctx.session.regenerate()
    }))
    await ann('GET /add')
    assert.equal(ann.cookies[KEY], 'get-000000000000000-1')
    assert.deepEqual((await ann('GET /add')).json(), { count: 2 })
    await ann('GET /sign-in')
    assert.deepEqual([...store.sessions.keys()], [`${KEY}:get-000000000000000-2`])
  })

  it('should send no cookie for an id of genid that is short, strange or the old one', async () => {
    for (const id of ['short', 'x'.repeat(257), `${'x'.repeat(32)}; a=b`, undefined, 5, Promise.resolve('x'.repeat(32))]) {
      const res = await visitor(ask, counting(session, { genid: () => id }))('GET /add')
      assert.deepEqual([res.status, res.setCookie], [500, {}], String(id))
    }
    const store = promising()
    const ann = visitor(ask, counting(session, { store, genid: () => 'always-the-same-id' }, ctx => {
      if (ctx.path === '/sign-in') ctx.sessionHandler.regenerateId()
    }))
    await ann('GET /add')
    assert.equal((await ann('GET /sign-in')).status, 500)
    assert.equal(store.sessions.size, 1)
  })

  it('should give a client whose session is not valid an empty one, as koa-session does', async () => {
    const valid = (ctx, { count }) => count !== 2
    for (const store of [undefined, promising(), sealed()]) {
      const apps = [counting(original, { signed: false, valid }), counting(session, { store, valid })]
      for (const app of apps) {
        const ann = visitor(ask, app)
        const counts = []
        for (let i = 0; i < 4; i++) counts.push((await ann('GET /add')).json().count)
        assert.deepEqual(counts, [1, 2, 1, 2])
      }
    }
  })

  it('should keep the record of a session that is not valid, and give its client another id', async () => {
    const store = promising()
    const ann = visitor(ask, counting(session, { store, valid: (ctx, { count }) => count !== 1 }))
    await ann('GET /add')
    const before = ann.cookies[KEY]
    await ann('GET /add')
    assert.notEqual(ann.cookies[KEY], before)
    assert.deepEqual([...store.sessions.keys()], [before, ann.cookies[KEY]].map(id => `${KEY}:${id}`))
  })

  it('should let beforeSave change a session that is to be saved, as koa-session does', async () => {
    for (const make of [original, session]) {
      const saved = []
      const beforeSave = (ctx, session) => { saved.push(ctx.path); session.last = ctx.path }
      const ann = visitor(ask, counting(make, { signed: false, beforeSave }))
      for (const path of ['/', '/add', '/read', '/add', '/']) await ann(`GET ${path}`)
      assert.deepEqual(saved, ['/add', '/add'])
      assert.deepEqual((await ann('GET /read')).json(), { count: 2, last: '/add' })
    }
  })

  it('should refuse a promise of valid or beforeSave, which nothing would wait for', async () => {
    for (const options of [{ valid: async () => false }, { beforeSave: async () => { throw new Error('away') } }]) {
      const ann = visitor(ask, counting(session, options))
      const statuses = [(await ann('GET /add')).status, (await ann('GET /add')).status]
      assert.deepEqual(statuses, options.valid ? [200, 500] : [500, 500])
    }
  })

  it('should send the signature beside the cookie of a request that throws', async () => {
    const app = counting(session, { signed: true }, ctx => {
      if (ctx.path === '/add') ctx.throw(401)
    })
    const ann = visitor(ask, app)
    assert.equal((await ann('GET /add')).status, 401)
    assert.deepEqual((await ann('GET /')).json(), { count: 1 })
  })

  it('should send cookie and signature with all attributes after a rotation of app.keys', async () => {
    for (const store of [undefined, promising(), sealed()]) {
      const app = counting(session, { signed: true, maxAge: HOUR, sameSite: 'strict', path: '/', store })
      const ann = visitor(ask, app)
      const first = await ann('GET /add')
      const names = [KEY, `${KEY}.sig`]
      app.keys = ['a newer secret', ...app.keys]
      const rotated = await ann('GET /read')
      assert.deepEqual(rotated.json(), { count: 1 })
      for (const name of names) assert.deepEqual(attributesOf(rotated.setCookie[name]), attributesOf(first.setCookie[name]))
      assert.deepEqual((await ann('GET /read')).setCookie, {})
      app.keys = ['a newer secret']
      assert.deepEqual((await ann('GET /read')).json(), { count: 1 })
    }
  })

  it('should take a signed cookie only with its signature', async () => {
    for (const store of [undefined, session.sealedCookie({ keys: ['k'.repeat(32)] })]) {
      const app = counting(session, { signed: true, store })
      const ann = visitor(ask, app)
      await ann('GET /add')
      assert.match(ann.cookies[`${KEY}.sig`], /^[\w-]+$/)
      assert.deepEqual((await ann('GET /add')).json(), { count: 2 })
      assert.deepEqual((await visitor(ask, app, { [KEY]: ann.cookies[KEY] })('GET /')).json(), {})
      const forged = { [KEY]: ann.cookies[KEY], [`${KEY}.sig`]: 'A'.repeat(27) }
      assert.deepEqual((await visitor(ask, app, forged)('GET /')).json(), {})
    }
  })

  for (const [name, store] of [['memory', session.memory], ['a promising store', promising], ['the cookie', sealed]]) {
    it(`should begin maxAge anew with every response when rolling, in ${name}`, async t => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const options = { maxAge: HOUR, rolling: true, signed: false }
      const clients = twins(options, store())
      await Promise.all(clients.map(client => client('GET /add')))
      for (let i = 0; i < 4; i++) {
        t.mock.timers.tick(HOUR - 1000)
        const [theirs, ours] = await Promise.all(clients.map(client => client('GET /read')))
        assert.deepEqual(ours.json(), { count: 1 })
        assert.deepEqual(theirs.json(), { count: 1 })
        assert.equal(expiryOf(ours), expiryOf(theirs))
        assert.equal(expiryOf(ours), Math.floor((Date.now() + HOUR) / 1000))
      }
      t.mock.timers.tick(HOUR + 1000)
      for (const client of clients) assert.deepEqual((await client('GET /read')).json(), {})
    })

    it(`should begin it anew when half of it is over with renew, in ${name}`, async t => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const options = { maxAge: HOUR, renew: true, signed: false }
      const clients = twins(options, store())
      await Promise.all(clients.map(client => client('GET /add')))
      for (const [minutes, isRenewed] of [[20, false], [9, false], [2, true], [20, false], [20, true], [29, false]]) {
        t.mock.timers.tick(minutes * 60e3)
        const [theirs, ours] = await Promise.all(clients.map(client => client('GET /read')))
        assert.deepEqual(ours.json(), { count: 1 })
        assert.equal(expiryOf(theirs) !== undefined, isRenewed, `${minutes}`)
        assert.equal(expiryOf(ours), expiryOf(theirs), `${minutes}`)
      }
      t.mock.timers.tick(HOUR + 1000)
      for (const client of clients) assert.deepEqual((await client('GET /read')).json(), {})
    })

    it(`should know isNew, populated and maxAge, and keep none of them, in ${name}`, async () => {
      const seen = []
      const act = ctx => {
        const { isNew, populated, maxAge } = ctx.session
        seen.push([isNew, populated, maxAge])
      }
      for (const client of twins({ maxAge: HOUR, signed: false }, store(), act)) {
        assert.deepEqual((await client('GET /')).json(), {})
        await client('GET /add')
        assert.deepEqual((await client('GET /read')).json(), { count: 1 })
      }
      assert.deepEqual(seen, [
        [true, false, HOUR], [true, true, HOUR], [false, true, HOUR], [true, false, HOUR], [true, true, HOUR], [false, true, HOUR]
      ])
    })

    it(`should keep a session for its own maxAge, in ${name}`, async t => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const act = ctx => {
        if (ctx.path === '/remember') ctx.session.maxAge = 10 * HOUR
        if (ctx.path === '/until-closed') ctx.session.maxAge = 'session'
      }
      const clients = twins({ maxAge: HOUR, signed: false }, store(), act)
      await Promise.all(clients.map(client => client('GET /add')))
      for (const path of ['/remember', '/add', '/until-closed', '/add']) {
        const [theirs, ours] = await Promise.all(clients.map(client => client(`GET ${path}`)))
        assert.equal(expiryOf(ours), expiryOf(theirs), path)
        assert.deepEqual(ours.json(), theirs.json(), path)
      }
      const ours = clients[1]
      await ours('GET /remember')
      t.mock.timers.tick(9 * HOUR)
      assert.deepEqual((await ours('GET /read')).json(), { count: 3 })
      t.mock.timers.tick(2 * HOUR)
      assert.deepEqual((await ours('GET /read')).json(), {})
    })
  }

  it('should extend a session of an app with renew only while the app has it', async () => {
    const store = promising()
    const ann = visitor(ask, counting(session, { store, maxAge: HOUR }))
    await ann('GET /add')
    const [[id]] = store.sessions
    await store.set(id, { count: 1, _expire: Date.now() + 1000 }, HOUR)
    assert.deepEqual((await ann('GET /read')).setCookie, {})
    const renewing = visitor(ask, counting(session, { store, maxAge: HOUR, renew: true }), ann.cookies)
    assert.match((await renewing('GET /read')).setCookie[KEY], /^sid=/)
  })

  it('should save with save() what has not changed, even nothing', async () => {
    for (const save of [ctx => ctx.session.save(), ctx => ctx.sessionHandler.save(), ctx => { ctx.session.save() }]) {
      const store = promising()
      const ann = visitor(ask, counting(session, { store }, async ctx => {
        if (ctx.path === '/save') await save(ctx)
        ctx.body = { ...ctx.session, isNew: ctx.session.isNew }
      }))
      await ann('GET /save')
      assert.deepEqual([...store.sessions.values()], ['{}'])
      const id = ann.cookies[KEY]
      assert.deepEqual((await ann('GET /read')).json(), { isNew: false })
      assert.ok((await ann('GET /save')).setCookie[KEY].startsWith(`${KEY}=${id};`))
    }
  })

  it('should have isNew and maxAge on ctx.sessionHandler, too, where no data hides them', async () => {
    const ann = visitor(ask, [session({ maxAge: HOUR }), ctx => {
      if (ctx.path === '/hide') Object.assign(ctx.session, { isNew: 'mine', maxAge: 'two days' })
      if (ctx.path === '/remember') ctx.sessionHandler.maxAge = 10 * HOUR
      if (ctx.path === '/wrong') ctx.sessionHandler.maxAge = 'two days'
      const { isNew, maxAge } = ctx.sessionHandler
      ctx.body = [isNew, maxAge, ctx.session.isNew, ctx.session.maxAge]
    }])
    assert.deepEqual((await ann('GET /hide')).json(), [true, HOUR, 'mine', 'two days'])
    assert.deepEqual((await ann('GET /')).json(), [false, HOUR, 'mine', 'two days'])
    assert.deepEqual((await ann('GET /remember')).json(), [false, 10 * HOUR, 'mine', 'two days'])
    assert.deepEqual((await ann('GET /')).json(), [false, 10 * HOUR, 'mine', 'two days'])
    assert.equal((await ann('GET /wrong')).status, 500)
    assert.match(errors.at(-1).message, /^session: maxAge must be a number of milliseconds from 0 to 250000000000000 or 'session', not 'two days' \(/)
  })

  it('should send a date that browsers read for the longest maxAge, and refuse a longer one everywhere', async () => {
    const MAX = 2.5e14
    const SET = {
      'ctx.session.maxAge': value => [{}, ctx => { ctx.session.maxAge = value }],
      'ctx.sessionHandler.maxAge': value => [{}, ctx => { ctx.sessionHandler.maxAge = value }],
      'options.cookie()': value => [{ cookie: () => ({ maxAge: value }) }],
      'options.maxAge': value => [{ maxAge: value }],
      'a stored one': value => [{ store: { get: () => ({ count: 1, _maxAge: value }), set () {}, destroy () {} } }]
    }
    for (const [by, set] of Object.entries(SET)) {
      for (const value of [HOUR, MAX, MAX + 1000, 8.64e15, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Infinity]) {
        const [options, act] = set(value)
        const what = `${by} ${value}`
        const visit = async () => visitor(ask, counting(session, options, act), { [KEY]: 'x'.repeat(32) })('GET /add')
        if (by === 'options.maxAge' && value > MAX) {
          await assert.rejects(visit(), /options.maxAge must be a number of milliseconds from 0 to 250000000000000/)
          continue
        }
        const { status, setCookie: { [KEY]: line } } = await visit()
        assert.equal(status, value > MAX && by !== 'a stored one' ? 500 : 200, what)
        // RFC 6265, 5.1.1: a year of four digits
        assert.match(line ?? 'none', value > MAX ? /^none$|httponly$/ : /; expires=\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT;/, what)
      }
    }
  })

  it('should not take data of an app for what it stores beside the data', async () => {
    for (const renew of [false, true]) {
      const store = promising()
      const ann = visitor(ask, counting(session, { store, renew, maxAge: HOUR }, ctx => {
        if (ctx.path === '/add') Object.assign(ctx.session, { _maxAge: 9 * HOUR, _expire: 5 })
      }))
      await ann('GET /add')
      const [stored] = store.sessions.values()
      assert.match(stored, renew ? /^{"count":1,"_expire":\d{13}}$/ : /^{"count":1}$/)
      assert.deepEqual((await ann('GET /read')).json(), { count: 1 })
    }
  })

  it('should have saved when save() resolves, and tell its caller when it cannot', async () => {
    const store = promising()
    const ann = visitor(ask, counting(session, { store }, async ctx => {
      ctx.session.count = 7
      await ctx.session.save()
      ctx.body = [...store.sessions.values()]
      ctx.session.count = 8
    }))
    assert.deepEqual((await ann('GET /')).json(), ['{"count":7}'])
    assert.deepEqual([...store.sessions.values()], ['{"count":8}'])
    store.set = async () => { throw new Error('disk full') }
    const before = errors.length
    assert.equal((await ann('GET /')).status, 503)
    assert.equal(errors[before].code, 'KONE_ERR_SESSION_STORE')
  })

  it('should give a new id with regenerate()', async () => {
    const store = promising()
    const ann = visitor(ask, counting(session, { store }, async ctx => {
      if (ctx.path === '/sign-in') await ctx.session.regenerate()
    }))
    await ann('GET /add')
    const id = ann.cookies[KEY]
    assert.deepEqual((await ann('GET /sign-in')).json(), { count: 1 })
    assert.notEqual(ann.cookies[KEY], id)
    assert.deepEqual([...store.sessions.keys()], [`${KEY}:${ann.cookies[KEY]}`])
  })

  it('should list, serialise and copy the data alone, as koa-session does', async () => {
    const looks = {
      json: session => JSON.stringify(session),
      nested: session => JSON.stringify({ session, list: [session] }),
      // koa-session's own fields are enumerable: isNew, _expire, _requireSave
      keys: session => Object.keys(session).filter(isData),
      entries: session => Object.entries(session).filter(([name]) => isData(name)),
      spread: session => Object.keys({ ...session }).filter(isData),
      assigned: session => Object.keys(Object.assign({}, session)).filter(isData),
      inherited: session => {
        const names = []
        for (const name in session) if (isData(name)) names.push(name)
        return names
      },
      rest: ({ user, ...rest }) => [user, JSON.stringify(rest.list)],
      has: session => ['user', 'isNew', 'maxAge', 'save', 'nothing'].map(name => name in session),
      own: session => ['user', 'save', 'maxAge', 'populated'].map(name => Object.hasOwn(session, name)),
      inspected: session => inspect(session).includes("{ user: 'ada', list: [ 1, 2 ] }"),
      type: session => [typeof session, Array.isArray(session), session.constructor.name, String(session)],
      written: session => {
        session.extra = 1
        delete session.user
        return JSON.stringify(session)
      },
      methods: session => ['save', 'regenerate', 'manuallyCommit'].map(name => typeof session[name])
    }
    const isData = name => name !== 'isNew' && name[0] !== '_'
    for (const path of ['/new', '/stored', '/assigned']) {
      const act = ctx => {
        if (ctx.path === '/new') Object.assign(ctx.session, { user: 'ada', list: [1, 2] })
        if (ctx.path === '/assigned') ctx.session = { user: 'ada', list: [1, 2] }
        ctx.body = Object.fromEntries(Object.entries(looks).map(([name, look]) => {
          const { user, list } = ctx.session
          const result = look(ctx.session)
          delete ctx.session.extra
          delete ctx.session.list
          return [name, (Object.assign(ctx.session, { user, list }), result)]
        }))
      }
      const [theirs, ours] = await Promise.all(twins({ signed: false, maxAge: HOUR }, undefined, act).map(async client => {
        await client('GET /new')
        return (await client(`GET ${path}`)).json()
      }))
      assert.deepEqual(ours, theirs, path)
      assert.equal(ours.json, '{"user":"ada","list":[1,2]}')
    }
  })

  it('should be copied by structuredClone, and equal a plain object but for its prototype', async () => {
    const app = counting(session, {}, ctx => {
      ctx.session = JSON.parse('{"a":[1],"__proto__":2,"constructor":3}')
      assert.deepEqual(structuredClone(ctx.session), JSON.parse('{"a":[1],"__proto__":2,"constructor":3}'))
      assert.deepEqual({ ...ctx.session }, JSON.parse('{"a":[1],"__proto__":2,"constructor":3}'))
      ctx.body = JSON.stringify(ctx.session)
    })
    const ann = visitor(ask, app)
    assert.equal((await ann('GET /')).text, '{"a":[1],"__proto__":2,"constructor":3}')
  })

  it('should copy what is assigned, as koa-session does, an instance without its class', async () => {
    class Visit { constructor () { this.page = 1 } next () { return ++this.page } }
    const assigned = {
      '/plain': () => ({ page: 2 }),
      '/instance': () => new Visit(),
      '/frozen': () => Object.freeze({ page: 7 }),
      '/bare': () => Object.assign(Object.create(null), { page: 8 })
    }
    const act = ctx => {
      const make = assigned[ctx.path]
      if (make === undefined) return
      const given = make()
      ctx.session = given
      ctx.session.last = ctx.path
      const { session } = ctx
      ctx.body = [session === given, given.last, typeof session.next, session instanceof Visit, typeof session.save, session]
    }
    const [theirs, ours] = twins({ signed: false, maxAge: HOUR }, undefined, act)
    for (const path of [...Object.keys(assigned), '/']) {
      const [expected, seen] = await Promise.all([theirs, ours].map(client => client(`GET ${path}`)))
      assert.deepEqual(seen.json(), expected.json(), path)
    }
  })

  it('should give stores a plain object', async () => {
    const prototypes = []
    const store = { ...promising(), set (id, value) { prototypes.push(Object.getPrototypeOf(value)) } }
    const ann = visitor(ask, counting(session, { store }, ctx => {
      if (ctx.path === '/maxAge') ctx.session.maxAge = HOUR
    }))
    await ann('GET /add')
    await ann('GET /maxAge')
    assert.deepEqual(prototypes, [Object.prototype, Object.prototype])
  })

  const inHeader = {
    get: ctx => ctx.get('x-session'),
    set (ctx, key) { ctx.set('X-Session', key) }
  }

  /** A native app, which keeps what the header says and knows no cookies. */
  function native (app) {
    const phone = { key: undefined }
    return Object.assign(async (line, { headers } = {}) => {
      const res = await ask(app, line, { headers: { ...(phone.key && { 'x-session': phone.key }), ...headers } })
      phone.key = res.headers['x-session'] ?? phone.key
      return res
    }, { phone })
  }

  it('should read and send the id by externalKey, as koa-session does', async () => {
    const act = async ctx => {
      if (ctx.path === '/sign-in') await ctx.session.regenerate()
      if (ctx.path === '/sign-out') ctx.session = null
    }
    for (const options of [{ signed: true }, { rolling: true }, { cookie: { maxAge: HOUR, secure: true } }]) {
      const given = { externalKey: inHeader, maxAge: HOUR, ...options }
      const clients = [counting(original, { ...given, store: promising() }, act), ...[undefined, promising()].map(store =>
        counting(session, { ...given, store }, act))].map(native)
      for (const path of ['/', '/read', '/add', '/add', '/read', '/sign-in', '/read', '/add', '/sign-out', '/read', '/add']) {
        const [theirs, ...ours] = await Promise.all(clients.map(async client => {
          const { key } = client.phone
          const res = await client(`GET ${path}`)
          const isNew = res.headers['x-session'] !== undefined && res.headers['x-session'] !== key
          return { body: res.text, sent: res.headers['x-session'] !== undefined, isNew, cookie: res.headers['set-cookie'] }
        }))
        if (path === '/sign-out' || path === '/sign-in') theirs.cookie = undefined // clears one that it never set
        for (const one of ours) assert.deepEqual(one, theirs, `${path} ${JSON.stringify(options)}`)
      }
    }
  })

  it('should never take over a key of externalKey that the store does not know', async () => {
    for (const store of [undefined, promising()]) {
      const genid = ctx => 'x'.repeat(40) + ++made
      let made = 0
      const app = counting(session, { store, genid, externalKey: { ...inHeader, get: ctx => ctx.query.key ?? ctx.get('x-session') } })
      const chosen = 'y'.repeat(41)
      for (const query of ['', `?key=${chosen}`, '?key=a&key=b', '?key=', `?key=${'z'.repeat(5000)}`, '?key=__proto__']) {
        const phone = native(app)
        phone.phone.key = chosen
        const { status, headers } = await phone(`GET /add${query}`)
        assert.deepEqual([status, headers['x-session']], [200, genid().slice(0, -String(made).length) + (made - 1)])
      }
      const phone = native(app)
      const { headers } = await phone('GET /add')
      assert.match(headers['cache-control'], /private/)
      assert.deepEqual((await phone('GET /add')).json(), { count: 2 })
      assert.deepEqual((await native(app)('GET /read', { headers: { cookie: `${KEY}=${phone.phone.key}` } })).json(), {})
    }
  })

  it('should send the key of externalKey with an error, and call get and set with ctx alone and the key', async () => {
    const calls = []
    const externalKey = {
      get (...args) { calls.push(['get', this === externalKey, args.length]); return args[0].get('x-session') },
      set (ctx, ...args) {
        calls.push(['set', this === externalKey, args.length])
        ctx.set('X-Session', args[0])
        ctx.cookies.set('has-session', '1', { signed: false })
      }
    }
    const phone = native(counting(session, { externalKey }, async ctx => {
      ctx.cookies.set('other', '1', { signed: false })
      if (ctx.path === '/add') await ctx.session.save()
      if (ctx.path === '/add') ctx.throw(401, 'no', { headers: { 'X-Own': 'a', 'Set-Cookie': 'own=1' } })
      ctx.body = { ...ctx.session, key: ctx.session.externalKey }
    }))
    const { status, headers } = await phone('GET /add')
    assert.deepEqual([status, headers['x-own'], headers['set-cookie']], [401, 'a', ['has-session=1; path=/; httponly', 'own=1']])
    assert.deepEqual((await phone('GET /')).json(), { count: 1, key: headers['x-session'] })
    assert.deepEqual(calls, [['get', true, 1], ['set', true, 1], ['get', true, 1]])
  })

  it('should refuse a promise of externalKey', async () => {
    for (const externalKey of [{ ...inHeader, get: async () => { throw new Error('away') } }, { ...inHeader, set: async () => {} }]) {
      const before = errors.length
      assert.equal((await native(counting(session, { externalKey }))('GET /add')).status, 500)
      assert.match(errors[before].message, /^session: options.externalKey.[gs]et must not be async/)
    }
  })

  it('should sign nobody out by an error of any kind, and throw the error itself', async () => {
    const frozen = Object.preventExtensions(Object.assign(new Error('frozen'), { status: 400, expose: true }))
    const failures = {
      unexpected: () => { throw new Error('boom') },
      401: ctx => ctx.throw(401),
      503: ctx => ctx.throw(503, { headers: { 'Set-Cookie': 'own=1', 'Cache-Control': 'no-store' } }),
      frozen: () => { throw frozen },
      caught: ctx => ctx.throw(418)
    }
    for (const [store, externalKey] of [[undefined], [promising()], [sealed()], [undefined, inHeader]]) {
      for (const [kind, fail] of Object.entries(failures)) {
        let thrown
        const app = new Koa()
        app.use(async (ctx, next) => {
          try {
            await next()
          } catch (err) {
            thrown = err
            if (kind !== 'caught') throw err
            ctx.status = err.status
          }
        })
        app.use(session({ key: KEY, store, externalKey }))
        app.use(async ctx => {
          if (ctx.path === '/add') ctx.session.count = 1
          if (ctx.path === '/fail') await ctx.session.regenerate()
          if (ctx.path === '/fail') fail(ctx)
          ctx.body = { ...ctx.session }
        })
        const ann = externalKey ? native(app) : visitor(ask, app)
        await ann('GET /add')
        const { status, headers } = await ann('GET /fail')
        assert.equal(status, { unexpected: 500, frozen: 400, caught: 418 }[kind] ?? Number(kind))
        assert.match(headers['cache-control'], /private|no-store/)
        assert.equal((headers['set-cookie'] ?? []).includes('own=1'), kind === '503')
        assert.equal(Object.hasOwn(thrown, 'message'), true)
        assert.deepEqual((await ann('GET /')).json(), { count: 1 }, `${kind} ${store}`)
      }
    }
  })

  it('should clear a cookie that the same response has set', async () => {
    for (const store of [undefined, promising(), sealed()]) {
      const ann = visitor(ask, counting(session, { store, maxAge: HOUR, signed: true }, async ctx => {
        if (ctx.path !== '/add') return
        await ctx.session.save()
        ctx.session = null // signed in, and then refused
      }))
      const { setCookie } = await ann('GET /add')
      for (const name of [KEY, `${KEY}.sig`]) assert.match(setCookie[name] ?? 'none', /none|; expires=Thu, 01 Jan 1970/)
      assert.deepEqual((await ann('GET /read')).json(), {})
    }
  })

  it("should keep data of the app's own under these names", async () => {
    const app = counting(session, {}, ctx => {
      if (ctx.path === '/set') Object.assign(ctx.session, { isNew: 'mine', populated: 1, maxAge: 'two days', externalKey: 0 })
      if (ctx.path === '/replace') ctx.session = { save: 'this' }
    })
    const ann = visitor(ask, app)
    await ann('GET /set')
    assert.deepEqual((await ann('GET /read')).json(), { isNew: 'mine', populated: 1, maxAge: 'two days', externalKey: 0 })
    await ann('GET /replace')
    assert.deepEqual((await ann('GET /read')).json(), { save: 'this' })
  })

  it('should give an object that was assigned the same methods', async () => {
    const store = promising()
    const ann = visitor(ask, counting(session, { store, maxAge: HOUR }, ctx => {
      if (ctx.path !== '/assign') return
      ctx.session = { a: 1 }
      ctx.session.maxAge = 3 * HOUR
    }))
    const res = await ann('GET /assign')
    assert.ok(Math.abs(expiryOf(res) - (Date.now() + 3 * HOUR) / 1000) < 60)
    assert.deepEqual((await ann('GET /read')).json(), { a: 1 })
  })
})

function sealed () {
  return session.sealedCookie({ keys: ['k'.repeat(32)] })
}

/** A store of promises that, as Redis does, forgets what is over. */
function promising () {
  const ends = new Map()
  return storeOf(async (name, id, work, ttl) => {
    if (name === 'set') ends.set(id, Date.now() + ttl)
    return name !== 'get' || ends.get(id) > Date.now() ? work() : null
  })
}

/** In whole seconds, as in the cookie. */
function expiryOf ({ setCookie }) {
  const [, date] = /expires=([^;]+)/.exec(setCookie[KEY]) ?? []
  return date === undefined ? undefined : Date.parse(date) / 1000
}
