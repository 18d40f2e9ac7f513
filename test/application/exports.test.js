'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const createError = require('http-errors')

const Kone = require('kone')
const manifest = require('kone/package.json')

describe("require('kone')", () => {
  it('should be the class', () => {
    assert.equal(typeof Kone, 'function')
    assert.equal(Kone.name, 'Application')
    assert.equal(Kone, require('kone/lib/application'))
  })

  it('should be its own default, as an own static property', () => {
    assert.equal(Kone.default, Kone)
    assert(Object.hasOwn(Kone, 'default'))
  })

  it('should have its own name, for `import { Kone }`', () => {
    const bluebird = require('kone/bluebird')
    assert.equal(Kone.Kone, Kone)
    assert.equal(bluebird.Kone, bluebird)
  })

  it('should export HttpError of the shared http-errors', () => {
    assert.equal(Kone.HttpError, createError.HttpError)
    assert.throws(() => { throw createError(404) }, Kone.HttpError)
  })

  it('should export compose, and the error maker of Koa 3', () => {
    assert.equal(Kone.compose, require('kone/compose'))
    assert.equal(Kone.createHttpError, createError)
    assert.equal(Kone.isHttpError(createError(400)), true)
  })

  it('should have use and callback as own methods that are not enumerable, as APM tools expect', () => {
    for (const name of ['use', 'callback', 'createContext', 'handleRequest', 'onerror', 'listen']) {
      const { enumerable, value } = Object.getOwnPropertyDescriptor(Kone.prototype, name)
      assert.equal(enumerable, false)
      assert.equal(typeof value, 'function')
    }
  })

  it('should be declared as `class Application` in lib/application.js, which Sentry rewrites', () => {
    assert.match(fs.readFileSync(require.resolve('kone/lib/application'), 'utf8'), /\bclass Application\b/)
  })

  it('should be a release of Koa’s major 2 that Koa itself never published', () => {
    const [major, minor] = manifest.version.split('.').map(Number)
    assert.match(manifest.version, /^\d+\.\d+\.\d+$/)
    assert.equal(major, 2)
    assert(minor >= 17)
  })
})

describe('the subpaths of koa', () => {
  for (const name of ['application', 'context', 'request', 'response']) {
    it(`should have lib/${name}, with and without .js`, () => {
      assert.equal(require(`kone/lib/${name}`), require(`kone/lib/${name}.js`))
    })
  }

  it('should have the prototypes that every app’s inherit from', () => {
    const app = new Kone()
    for (const name of ['context', 'request', 'response']) {
      assert.equal(Object.getPrototypeOf(app[name]), require(`kone/lib/${name}`))
    }
  })

  it('should have package.json, with and without .json', () => {
    assert.equal(require('kone/package.json').name, 'kone')
    assert.equal(require('kone/package').name, 'kone')
  })
})

describe("import 'kone'", () => {
  it("should have the class's own names, and nothing else", async () => {
    const kone = await import('kone')
    const names = Object.keys(kone).filter(name => name !== 'module.exports').sort() // Node 23 and newer add it
    assert.deepEqual(names, ['HttpError', 'Kone', 'compose', 'createHttpError', 'default', 'isHttpError'])
    assert.deepEqual(names, Object.keys(Kone).sort())
    for (const name of names) assert.equal(kone[name], Kone[name], name)
  })

  it('should give the same class as require, for bluebird too', async () => {
    const bluebird = await import('kone/bluebird')
    assert.equal(bluebird.default, require('kone/bluebird'))
    assert.equal(bluebird.HttpError, Kone.HttpError)
    const { default: compose } = await import('kone/compose')
    assert.equal(compose, Kone.compose)
  })
})
