'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { execFileSync } = require('node:child_process')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

describe('app.currentContext', () => {
  test('should be undefined without asyncLocalStorage and outside of requests', () => {
    assert.equal(new Kone().currentContext, undefined)
    assert.equal(new Kone().ctxStorage, undefined)
    assert.equal(new Kone({ asyncLocalStorage: true }).currentContext, undefined)
    assert(new Kone({ asyncLocalStorage: true }).ctxStorage instanceof AsyncLocalStorage)
  })

  test('should use the storage that is given', () => {
    const storage = new AsyncLocalStorage()
    const app = new Kone({ asyncLocalStorage: storage })
    assert.equal(app.ctxStorage, storage)
    storage.run('anything', () => assert.equal(app.currentContext, 'anything'))
  })

  test('should wait for the storage while a startup snapshot is built', () => {
    // A snapshot's own script may not require files, so a process pretends to build one.
    const script = `
      const v8 = require('node:v8')
      let restore
      Object.defineProperty(v8, 'startupSnapshot', { value: {
        isBuildingSnapshot: () => true,
        addDeserializeCallback (fn, data) { restore = () => fn(data) }
      } })
      const Kone = require(${JSON.stringify(require.resolve('kone'))})
      const app = new Kone({ asyncLocalStorage: true })
      const before = app.ctxStorage
      restore()
      console.log(before === null, typeof app.ctxStorage.run)
    `
    assert.equal(execFileSync(process.execPath, ['-e', script]).toString().trim(), 'true function')
  })
})

for (const [what, make] of [['true', () => true], ['an instance', () => new AsyncLocalStorage()]]) {
  engines(`app.currentContext with asyncLocalStorage: ${what}`, ({ it, serve, ask }) => {
    it('should be the ctx of the request, also behind promises and timers', async () => {
      const res = await ask(app => app.use(async ctx => {
        const seen = [app.currentContext === ctx]
        await Promise.resolve()
        seen.push(app.currentContext === ctx)
        await new Promise(resolve => setTimeout(resolve, 1))
        seen.push(app.currentContext === ctx)
        await new Promise(resolve => process.nextTick(() => {
          seen.push(app.currentContext === ctx)
          resolve()
        }))
        await app.Promise?.resolve().then(() => seen.push(app.currentContext === ctx))
        ctx.body = seen
      }), 'GET /', { app: { asyncLocalStorage: make() } })
      assert.deepEqual(new Set(res.json()), new Set([true]))
      assert(res.json().length >= 4)
    })

    it('should keep requests at the same time apart', async () => {
      const { ask } = await serve(app => app.use(async ctx => {
        await new Promise(resolve => setTimeout(resolve, 2))
        ctx.body = app.currentContext.path
      }), { asyncLocalStorage: make() })
      const paths = ['/a', '/b', '/c']
      const answers = await Promise.all(paths.map(path => ask(`GET ${path}`)))
      assert.deepEqual(answers.map(res => res.text), paths)
    })

    it('should be there for the error handler', async () => {
      let seen
      await ask(app => {
        app.on('error', (error, ctx) => { seen = error && app.currentContext === ctx })
        app.use(async () => {
          await null
          throw new Error('boom')
        })
      }, 'GET /', { app: { asyncLocalStorage: make() } })
      assert.equal(seen, true)
    })
  })
}

engines('app.createAsyncCtxStorageMiddleware()', ({ it, ask }) => {
  it('should set the context for an app that is mounted in another one', async () => {
    const inner = new Kone({ asyncLocalStorage: true })
    inner.use(inner.createAsyncCtxStorageMiddleware())
    inner.use(ctx => { ctx.body = String(inner.currentContext === ctx) })
    const res = await ask(app => app.use(inner.compose(inner.middleware)), 'GET /')
    assert.equal(res.text, 'true')
  })
})
