'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const { PassThrough } = require('node:stream')
const zlib = require('node:zlib')
const isolate = require('kone/middleware/isolate')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const BOOMS = {
  nextTick: boom => process.nextTick(boom),
  timer: boom => setTimeout(boom, 1),
  immediate: boom => setImmediate(boom),
  interval: boom => { const timer = setInterval(() => { clearInterval(timer); boom() }, 1) },
  emitter: boom => { const emitter = new EventEmitter().on('x', boom); setTimeout(() => emitter.emit('x'), 1) },
  'unheard error event': boom => {
    setImmediate(() => { try { boom() } catch (err) { new EventEmitter().emit('error', err) } })
  },
  'callback of fs': boom => fs.stat(__filename, boom),
  'callback of zlib': boom => zlib.gzip('x', boom),
  'nested timers': boom => setTimeout(() => process.nextTick(() => setImmediate(boom)), 1)
}

frameworks('isolate', ({ it, Koa, ask }) => {
  /** An app that is thrown at, with the requests that wait meanwhile. */
  const serve = (thrower, thrown = new Error('boom')) => {
    const app = new Koa()
    const waiting = []
    app.errors = []
    app.on('error', (err, ctx) => app.errors.push([err, ctx.path]))
    app.use(isolate())
    app.use(ctx => {
      ctx.body = ctx.path === '/wait' ? 'waited' : 'ok'
      if (ctx.path === '/wait') return new Promise(resolve => waiting.push(resolve))
      if (ctx.path === '/boom') return new Promise(() => thrower(() => { throw thrown }, ctx))
    })
    app.release = () => waiting.splice(0).forEach(fn => fn())
    app.isWaiting = count => until(() => waiting.length >= count)
    return app
  }

  for (const [what, thrower] of Object.entries(BOOMS)) {
    it(`should fail one request alone for a throw in: ${what}`, async () => {
      const app = serve(thrower)
      const others = [ask(app, 'GET /wait'), ask(app, 'GET /wait')]
      await app.isWaiting(2)
      const failed = await ask(app, 'GET /boom')
      assert.deepEqual([failed.status, failed.text], [500, 'Internal Server Error'])
      assert.deepEqual(app.errors.map(([err, path]) => [err.message, path]), [['boom', '/boom']])
      app.release()
      for (const other of await Promise.all(others)) assert.equal(other.text, 'waited')
      assert.equal((await ask(app, 'GET /')).text, 'ok')
    })
  }

  it("should fail the request for a throw in a listener of node's own request", async () => {
    const app = serve((boom, ctx) => ctx.req.on('end', boom).resume())
    assert.equal((await ask(app, 'POST /boom', { body: 'x' })).status, 500)
    assert.equal(app.errors.length, 1)
  })

  it('should tell which of many requests it was', async () => {
    const app = [isolate(), ctx => new Promise(resolve => setTimeout(() => {
      const n = Number(ctx.path.slice(1))
      if (n % 3 === 0) throw Object.assign(new Error(`e${n}`), { status: 418, expose: true })
      ctx.body = `${n}`
      resolve()
    }, 5))]
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(app, `GET /${n}`)))
    answers.forEach((res, n) => assert.deepEqual([res.status, res.text], n % 3 ? [200, `${n}`] : [418, `e${n}`]))
  })

  it('should respond with 500 when what is thrown is no Error', async () => {
    for (const thrown of [null, undefined, 'text', 7, { a: 1 }]) {
      const app = serve(BOOMS.timer, thrown)
      assert.equal((await ask(app, 'GET /boom')).status, 500, String(thrown))
      assert.equal(app.errors.length, 1)
    }
    const app = new Koa()
    app.on('error', () => {})
    app.use(isolate()).use(async () => { throw null }) // eslint-disable-line no-throw-literal
    assert.equal((await ask(app, 'GET /')).status, 500)
  })

  it('should tell the app of an error after the response, and of a second one', async () => {
    const app = new Koa()
    const heard = []
    app.on('error', err => heard.push(err.message))
    app.use(isolate())
    app.use(ctx => {
      if (ctx.path === '/late') {
        setTimeout(() => { throw new Error('late') }, 5)
        ctx.body = 'early'
        return
      }
      setTimeout(() => { throw new Error('first') }, 1)
      setTimeout(() => { throw new Error('second') }, 5)
      return new Promise(() => {})
    })
    assert.equal((await ask(app, 'GET /late')).text, 'early')
    assert.equal((await ask(app, 'GET /twice')).status, 500)
    await until(() => heard.length >= 3)
    assert.deepEqual(heard.sort(), ['first', 'late', 'second'])
  })

  it('should end a stream that the code which threw would have fed, and no other response', async () => {
    for (const [thrown, message] of [[new Error('boom'), 'boom'], [null, 'non-error thrown: null']]) {
      const app = new Koa()
      const heard = []
      app.on('error', err => heard.push(err.message))
      app.use(isolate())
      app.use(ctx => {
        ctx.body = new PassThrough()
        if (ctx.path === '/begun') ctx.body.write('half')
        setTimeout(() => { throw thrown }, 1)
        if (ctx.path === '/own') {
          ctx.respond = false
          setTimeout(() => ctx.res.end('own'), 5)
        }
      })
      const seen = async path => {
        const outcome = await ask(app, `GET ${path}`).then(res => `${res.status} ${res.text}`, err => err.code)
        return [outcome, heard.splice(0)[0]]
      }
      assert.deepEqual(await seen('/own'), ['200 own', message])
      assert.deepEqual(await seen('/'), ['500 Internal Server Error', message])
      assert.deepEqual(await seen('/begun'), ['ECONNRESET', message])
    }
  })

  it('should leave errors of promises to the middleware above, as ever', async () => {
    const app = [isolate(), async (ctx, next) => {
      try { await next() } catch (err) { ctx.body = `caught ${err.message}` }
    }, () => { throw new Error('sync') }]
    assert.equal((await ask(app, 'GET /')).text, 'caught sync')
  })
})

describe('isolate', () => {
  const run = code => spawnSync(process.execPath, ['-e', code], { cwd: __dirname, encoding: 'utf8', timeout: 120000 })
  /** An app in a process of its own: its handler, and what runs when it listens. */
  const program = (handler, then, first = '') => run(`
    ${first}
    const app = new (require('kone'))()
    app.on('error', err => console.log(err.message))
    app.use(require('kone/middleware/isolate')()).use(${handler})
    app.listen(0, async function () {
      const get = async path => console.log((await fetch('http://127.0.0.1:' + this.address().port + path)).status)
      ${then}
    })`)
  const MINE = "() => new Promise(() => setTimeout(() => { throw new Error('mine') }))"

  it('should fail the request for a promise nobody waits for', () => {
    // here node's test runner would get it first
    const { status, stdout } = program(
      "ctx => new Promise(() => { Promise.reject(ctx.path === '/null' ? null : new Error('boom')) })",
      "await get('/'); await get('/null'); process.exit(0)")
    assert.equal(status, 0)
    assert.match(stdout, /^boom\s+500\s[^]*null[^]*\s500\s+$/)
  })

  it('should let an error that belongs to no request end the process', () => {
    for (const code of ["setTimeout(() => { throw new Error('orphan') })", "Promise.reject(new Error('orphan'))"]) {
      const { status, stderr } = program('() => {}', code)
      assert.equal(status, 1)
      assert.match(stderr, /orphan/)
    }
  })

  it('should leave such an error to who listens for it', () => {
    const { status, stdout } = run(`
      require('kone/middleware/isolate')()
      process.on('uncaughtException', err => { console.log('heard ' + err.message); process.exit(3) })
      setTimeout(() => { throw new Error('orphan') })
    `)
    assert.equal(status, 3)
    assert.match(stdout, /heard orphan/)
  })

  it('should not let a listener that exits take the process for the error of a request', () => {
    const { status, stdout } = program(MINE,
      "process.on('uncaughtException', () => process.exit(3)); await get('/'); process.exit(0)")
    assert.equal(status, 0)
    assert.match(stdout, /500/)
  })

  it('should work beside the old domain module', () => {
    const { status, stdout, stderr } = program(MINE,
      "await get('/'); await get('/'); setTimeout(() => { throw new Error('orphan') })", "require('node:domain')")
    assert.match(stdout, /^mine\s+500\s+mine\s+500\s+$/)
    assert.equal(status, 1)
    assert.match(stderr, /orphan/)
  })
})
