'use strict'

const assert = require('node:assert/strict')
const session = require('kone/middleware/session')

const frameworks = require('../helpers/frameworks')
const visitor = require('../helpers/visitor')

const OLD = 'the old key, that was in use last year'
const NEW = Buffer.alloc(32, 7)

frameworks('session.sealedCookie', ({ it, Koa, ask, errors }) => {
  function counting (keys, options) {
    return new Koa().use(session({ key: 'sid', store: session.sealedCookie({ keys }), ...options })).use(ctx => {
      if (ctx.path === '/add') ctx.session.count = (ctx.session.count || 0) + 1
      if (ctx.path === '/clear') ctx.session = null
      if (ctx.path === '/renew') ctx.sessionHandler.regenerateId()
      if (ctx.path.startsWith('/fill/')) ctx.session.fill = 'x'.repeat(ctx.path.slice(6))
      ctx.body = ctx.session ?? {}
    })
  }

  it('should keep a session in its cookie alone, across workers', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    const elsewhere = visitor(ask, counting([OLD]), { ...ann.cookies })
    assert.deepEqual((await elsewhere('GET /add')).json(), { count: 2 })
  })

  it('should show nothing of the session', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    const bytes = Buffer.from(ann.cookies.sid, 'base64url')
    assert.ok(!bytes.toString('latin1').includes('count'))
  })

  it('should seal the same session differently each time', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    const before = ann.cookies.sid
    await ann('GET /renew')
    assert.notEqual(ann.cookies.sid, before)
    assert.deepEqual((await ann('GET /')).json(), { count: 1 })
  })

  it('should send nothing for an untouched session, and clear an emptied one', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    assert.equal((await ann('GET /')).headers['set-cookie'], undefined)
    await ann('GET /clear')
    assert.deepEqual(ann.cookies, {})
  })

  it('should open with every key and seal with the first', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    const both = visitor(ask, counting([NEW, OLD]), ann.cookies)
    assert.deepEqual((await both('GET /add')).json(), { count: 2 })
    const latest = visitor(ask, counting([NEW]), ann.cookies)
    assert.deepEqual((await latest('GET /add')).json(), { count: 3 })
    const old = visitor(ask, counting([OLD]), ann.cookies)
    assert.deepEqual((await old('GET /')).json(), {})
  })

  it('should not open another cookie\'s value', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    const other = visitor(ask, counting([OLD], { key: 'admin' }), { admin: ann.cookies.sid })
    assert.deepEqual((await other('GET /')).json(), {})
  })

  it('should not open what was altered, cut or made up', async () => {
    const app = counting([OLD])
    const ann = visitor(ask, app)
    await ann('GET /add')
    const bytes = Buffer.from(ann.cookies.sid, 'base64url')
    const altered = Array.from(bytes, (byte, i) => {
      const copy = Buffer.from(bytes)
      copy[i] ^= 1
      return copy.toString('base64url')
    })
    const cut = [0, 1, 12, 27, 28, 29, bytes.length - 1].map(n => bytes.toString('base64url', 0, n))
    const made = ['x', '%%%', '{"count":9}', 'A'.repeat(5000), '__proto__']
    for (const sid of [...altered, ...cut, ...made]) {
      const res = await visitor(ask, app, { sid })('GET /')
      assert.equal(res.status, 200)
      assert.deepEqual(res.json(), {})
    }
  })

  it('should not open a copy that outlived the session', async t => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const ann = visitor(ask, counting([OLD], { cookie: { maxAge: 20 } }))
    await ann('GET /add')
    t.mock.timers.tick(19)
    assert.deepEqual((await ann('GET /')).json(), { count: 1 })
    t.mock.timers.tick(1)
    assert.deepEqual((await ann('GET /')).json(), {})
  })

  it('should respond with 5xx and set no cookie for a session that does not fit', async () => {
    const app = counting([OLD], { cookie: { maxAge: 1000, domain: 'example.com' } })
    let largest = ''
    let refused = 0
    for (let n = 2800; n < 3100; n += 20) {
      const ann = visitor(ask, app)
      const res = await ann(`GET /fill/${n}`)
      if (res.status === 200) {
        largest = res.headers['set-cookie'][0]
        assert.deepEqual((await ann('GET /')).json(), { fill: 'x'.repeat(n) })
      } else {
        refused++
        assert.deepEqual([res.status, res.headers['set-cookie']], [500, undefined])
        assert.equal(errors.at(-1).code, 'KONE_ERR_SESSION_SIZE')
      }
    }
    assert.ok(refused > 0)
    assert.ok(largest.length <= 4096 && largest.length > 4000)
  })

  it('should keep the last session that did fit', async () => {
    const ann = visitor(ask, counting([OLD]))
    await ann('GET /add')
    assert.equal((await ann('GET /fill/4000')).status, 500)
    assert.deepEqual((await ann('GET /')).json(), { count: 1 })
  })
})
