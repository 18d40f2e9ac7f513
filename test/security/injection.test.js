'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')

const engines = require('../helpers/engines')

const EVIL = 'a\r\nX-Evil: 1\r\n\r\n<script>'

engines('text of a user in headers', ({ it, ask, see, engine }) => {
  const answered = async middleware => {
    const res = await ask(app => app.use(middleware), 'GET /')
    assert.equal(res.headers['x-evil'], undefined)
    assert.doesNotMatch(JSON.stringify(res.headers), /\\r|\\n/)
    return res
  }

  const cases = {
    'ctx.set()': ctx => ctx.set('X-A', EVIL),
    'ctx.set() of a list': ctx => ctx.set('X-A', ['fine', EVIL]),
    'ctx.set() of an object': ctx => ctx.set({ 'X-A': EVIL }),
    'ctx.append()': ctx => ctx.append('X-A', EVIL),
    'the name of a header': ctx => ctx.set(EVIL, 'a'),
    'ctx.type=': ctx => { ctx.type = `text/${EVIL}` },
    'ctx.etag=': ctx => { ctx.etag = EVIL },
    'ctx.vary()': ctx => ctx.vary(EVIL),
    'ctx.cookies.set() as value': ctx => ctx.cookies.set('a', EVIL),
    'ctx.cookies.set() as name': ctx => ctx.cookies.set(EVIL, 'a'),
    'ctx.cookies.set() as path': ctx => ctx.cookies.set('a', 'b', { path: EVIL }),
    'ctx.cookies.set() as domain': ctx => ctx.cookies.set('a', 'b', { domain: EVIL }),
    'ctx.message=': ctx => Object.assign(ctx, { status: 200, message: EVIL, body: 'x' }),
    'ctx.message= before a stream': ctx => Object.assign(ctx, { status: 200, message: EVIL, body: Readable.from(['x']) })
  }
  for (const [what, middleware] of Object.entries(cases)) {
    if (engine === 'http2' && !/cookies|vary|name of/.test(what)) continue // values have other rules there

    it(`should not break out of ${what}`, async () => {
      const res = await answered(middleware)
      assert.doesNotMatch(res.text, /<script>/)
    })
  }

  it('should not break out of the name of an attachment', async () => {
    for (const name of [EVIL, 'a";b="c', 'a\\";x', 'a\nb', 'ü\r\n.txt', '../../etc/passwd', 'a\u0000b']) {
      const value = (await answered(ctx => {
        ctx.attachment(name)
        ctx.body = 'x'
      })).headers['content-disposition']
      if (value === undefined) continue // refused
      // RFC 6266: the quoted string ends where it should
      assert.match(value, /^attachment(; filename=("(\\.|[^"\\])*"|[\w.!#$%&'*+^`|~-]+))?(; filename\*=UTF-8''[\w%.!#$&+^`|~-]*)?$/)
      assert.doesNotMatch(value, /\.\.\//)
    }
  })

  it('should not find what headers inherit', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']
    const found = await see(ctx => names.map(name => [ctx.get(name), ctx.response.get(name), ctx.has(name)]), 'GET /')
    assert.deepEqual(found, names.map(() => ['', '', false]))
  })

  it('should read a header that is called so', async () => {
    const found = await see(ctx => [ctx.get('constructor'), ctx.headers.constructor], 'GET /', { headers: { constructor: 'own' } })
    assert.deepEqual(found, ['own', 'own'])
  })
})
