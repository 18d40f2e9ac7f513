'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const disposition = (...args) => {
  const ctx = context()
  ctx.attachment(...args)
  return ctx.response.get('Content-Disposition')
}

describe('ctx.attachment(filename, options)', () => {
  it('should say attachment without a name', () => {
    assert.equal(disposition(), 'attachment')
  })

  it('should say the name', () => {
    assert.equal(disposition('path/to/tobi.png'), 'attachment; filename="tobi.png"')
  })

  it('should set the type of the name', () => {
    const ctx = context()
    ctx.attachment('tobi.png')
    assert.equal(ctx.type, 'image/png')
  })

  it('should keep a type already set', () => {
    const ctx = context()
    ctx.type = 'text/csv'
    ctx.attachment('tobi.png')
    assert.equal(ctx.type, 'text/csv')
  })

  it('should encode a name that is not ASCII', () => {
    assert.equal(disposition('include-no-ascii-char-中文名-ok.txt'),
      'attachment; filename="include-no-ascii-char-???-ok.txt"; ' +
      "filename*=UTF-8''include-no-ascii-char-%E4%B8%AD%E6%96%87%E5%90%8D-ok.txt")
  })

  it('should take the options of content-disposition', () => {
    assert.equal(disposition('plans.pdf', { type: 'inline' }), 'inline; filename="plans.pdf"')
    assert.equal(disposition('中.txt', { fallback: 'x.txt' }),
      "attachment; filename=\"x.txt\"; filename*=UTF-8''%E4%B8%AD.txt")
    assert.equal(disposition('€.txt', { fallback: false }), "attachment; filename*=UTF-8''%E2%82%AC.txt")
    assert.throws(() => disposition('a', { type: 42 }), TypeError)
    assert.throws(() => disposition(42), TypeError)
  })
})

engines('ctx.attachment()', ({ it, ask }) => {
  it('should be on the wire', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.attachment('a "quoted" file.json')
      ctx.body = { a: 1 }
    }), 'GET /')
    assert.equal(res.headers['content-disposition'], 'attachment; filename="a \\"quoted\\" file.json"')
    assert.match(res.headers['content-type'], /^application\/json/)
  })
})
