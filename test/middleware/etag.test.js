'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const { Readable } = require('node:stream')
const koaEtag = require('koa-etag')
const conditionalGet = require('kone/middleware/conditionalGet')
const etag = require('kone/middleware/etag')

const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')

const BODIES = {
  text: () => 'hello',
  unicode: () => 'grüß dich, 世界',
  empty: () => '',
  buffer: () => Buffer.from([0, 1, 2, 255]),
  'empty buffer': () => Buffer.alloc(0),
  json: () => ({ a: 1, b: [null, 'x'] }),
  list: () => [1, 2],
  number: () => 42,
  file: () => fs.createReadStream(__filename),
  stream: () => Readable.from(['a', 'b']),
  none: () => null
}

const warn = console.warn
/** koa-etag prints that it moved. */
function oracle (options) {
  console.warn = () => {}
  try {
    return koaEtag.default(options)
  } finally {
    console.warn = warn
  }
}

frameworks('etag', ({ it, Koa, ask, errors, name }) => {
  const kone = name.startsWith('kone')
  const forms = {
    middleware: (app, options) => app.use(etag(options)),
    ...(kone && { final: (app, options) => app.final(etag.final(options)) })
  }

  function answering (use, answer) {
    const app = new Koa()
    use(app)
    app.use(answer)
    return app
  }

  for (const [form, use] of Object.entries(forms)) {
    it(`should tag as koa-etag does (${form})`, async () => {
      for (const options of [undefined, {}, { weak: true }, { weak: false }]) {
        for (const [kind, body] of Object.entries(BODIES)) {
          for (const status of [200, 201, 404, 500]) {
            const answer = ctx => { ctx.status = status; ctx.body = body() }
            const theirs = await ask(answering(app => app.use(oracle(options)), answer), 'GET /')
            const ours = await ask(answering(app => use(app, options), answer), 'GET /')
            assert.equal(ours.headers.etag, theirs.headers.etag, `${kind} ${status}`)
            assert.deepEqual(ours.body, theirs.body)
            assert.equal(ours.status, theirs.status)
          }
        }
      }
    })

    it(`should give no tag to a part (${form})`, async () => {
      for (const [kind, body] of Object.entries(BODIES)) {
        const app = answering(use, ctx => { ctx.status = 206; ctx.body = body() })
        assert.equal((await ask(app, 'GET /')).headers.etag, undefined, kind)
      }
    })

    it(`should keep a tag that is there (${form})`, async () => {
      const app = answering(use, ctx => { ctx.etag = 'mine'; ctx.body = 'hello' })
      assert.equal((await ask(app, 'GET /')).headers.etag, '"mine"')
    })
  }

  const skip = name === 'koa 3' && 'Koa 3 ends the process when a stream fails before it is sent'
  it('should report a missing file once on kone, whether stat() or the stream fails first', { skip }, async () => {
    for (const use of Object.values(forms)) {
      for (const [line, isLate, isCaught] of [['GET /'], ['HEAD /'], ['GET /', true], ['HEAD /', true], ['GET /', false, true]]) {
        errors.length = 0
        const app = answering(app => {
          if (isCaught) app.use((ctx, next) => next().catch(err => { ctx.body = err.code }))
          use(app)
        }, ctx => {
          ctx.body = fs.createReadStream(`${__filename}.missing`)
          if (isLate) return once(ctx.body, 'close').catch(() => {})
        })
        const res = await ask(app, line)
        const isShown = isCaught && res.status === 200
        assert.deepEqual([res.status, res.text], isShown ? [200, 'ENOENT'] : [404, line === 'GET /' ? 'Not Found' : ''])
        if (kone) assert.equal(errors.length, isShown ? 0 : 1, `${line} ${isLate} ${isCaught}`)
        for (const err of errors) assert.equal(err.code, 'ENOENT')
      }
    }
  })

  it('should leave web bodies alone', { skip: name === 'koa 2' && 'has none' }, async () => {
    for (const body of [() => new Blob(['hi']), () => new Response('hi'), () => new Blob(['hi']).stream()]) {
      const res = await ask(answering(forms.middleware, ctx => { ctx.body = body() }), 'GET /')
      assert.deepEqual([res.text, res.headers.etag], ['hi', undefined])
    }
  })

  it('should respond with 304 with conditionalGet', async () => {
    const stack = {
      middleware: app => app.use(conditionalGet()).use(etag()),
      ...(kone && { final: app => app.final(etag.final()).final(conditionalGet.final()) })
    }
    for (const use of Object.values(stack)) {
      const app = answering(use, ctx => { ctx.body = { hello: 'world' } })
      const { headers, status } = await ask(app, 'GET /')
      assert.equal(status, 200)
      const res = await ask(app, 'GET /', { headers: { 'If-None-Match': headers.etag } })
      assert.deepEqual([res.status, res.text], [304, ''])
      assert.equal(res.headers.etag, headers.etag)
      assert.equal(res.headers['content-length'], undefined)
      assert.equal((await ask(app, 'GET /', { headers: { 'If-None-Match': '"x"' } })).status, 200)
    }
  })

  it('should tag random texts as koa-etag does', async () => {
    const rnd = random(1)
    let body
    const answer = ctx => { ctx.body = body }
    const theirs = answering(app => app.use(oracle()), answer)
    const ours = answering(forms.middleware, answer)
    for (let i = 0; i < 50; i++) {
      body = Array.from({ length: rnd.int(400) }, () => String.fromCodePoint(rnd.int(0xd7ff))).join('')
      assert.equal((await ask(ours, 'GET /')).headers.etag, (await ask(theirs, 'GET /')).headers.etag)
    }
  })
})
