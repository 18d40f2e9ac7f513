'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Emitter = require('node:events')

const Kone = require('../helpers/kone')
const Bluebird = require('../../lib/bluebird')

describe('new Kone(options)', () => {
  it('should be an emitter with the defaults of Koa', () => {
    const app = new Kone()
    assert(app instanceof Emitter)
    assert.equal(app.proxy, false)
    assert.equal(app.subdomainOffset, 2)
    assert.equal(app.proxyIpHeader, 'X-Forwarded-For')
    assert.equal(app.maxIpsCount, 0)
    assert.equal(app.keys, undefined)
    assert.deepEqual(app.middleware, [])
  })

  it('should set what Koa’s constructor sets', () => {
    const options = {
      env: 'something',
      keys: ['secret'],
      proxy: true,
      subdomainOffset: 3,
      proxyIpHeader: 'X-Client-IP',
      maxIpsCount: 1
    }
    class Settings {}
    for (const name in options) Object.defineProperty(Settings.prototype, name, { get: () => options[name] })
    for (const given of [options, Object.create(options), Object.freeze({ __proto__: null, ...options }), new Settings()]) {
      for (const app of [new Kone(given), new Bluebird(given)]) {
        for (const name in options) assert.equal(app[name], options[name], name)
      }
    }
  })

  it('should take undefined, null and no options', () => {
    assert.doesNotThrow(() => [new Kone(undefined), new Kone(null), new Kone({})])
    assert.doesNotThrow(() => new Kone({ proxy: undefined, keys: undefined, env: undefined }))
  })

  it('should take env from NODE_ENV, development without one', () => {
    const { NODE_ENV } = process.env
    try {
      process.env.NODE_ENV = 'test'
      assert.equal(new Kone().env, 'test')
      delete process.env.NODE_ENV
      assert.equal(new Kone().env, 'development')
    } finally {
      if (NODE_ENV !== undefined) process.env.NODE_ENV = NODE_ENV
    }
  })

  it('should not need new for what extends it', () => {
    class Own extends Kone {
      constructor () {
        super({ env: 'own' })
        this.extra = true
      }
    }
    const app = new Own()
    assert(app instanceof Kone)
    assert.equal(app.env, 'own')
    assert.equal(app.use(() => {}), app)
  })

  describe('given a misspelt name', () => {
    const misspelt = {
      kyes: 'keys',
      key: 'keys',
      Keys: 'keys',
      evn: 'env',
      porxy: 'proxy',
      trustproxy: undefined,
      proxyIPHeader: 'proxyIpHeader',
      proxyHeader: 'proxyIpHeader',
      maxIpCount: 'maxIpsCount',
      subDomainOffset: 'subdomainOffset',
      composer: 'compose',
      promise: 'Promise',
      asyncLocalStorge: 'asyncLocalStorage',
      KEYS: 'keys',
      http: undefined,
      http2: undefined,
      dev: undefined,
      end: undefined,
      port: undefined,
      name: undefined
    }

    for (const [name, meant] of Object.entries(misspelt)) {
      it(meant ? `should ask whether options.${name} means ${meant}` : `should ignore options.${name}`, () => {
        const make = () => new Kone({ [name]: true })
        if (meant === undefined) return make()
        const message = `options.${name} is unknown: did you mean \`${meant}\`? (kone/docs/api/application.md)`
        assert.throws(make, { name: 'TypeError', message })
      })
    }
  })
})
