'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')

const engines = require('../helpers/engines')
const { response } = require('../helpers/context')

describe('ctx.length', () => {
  it('should be a number, from the header', () => {
    const res = response()
    res.set('Content-Length', '1024')
    assert.equal(res.length, 1024)
    res.set('Content-Length', '0')
    assert.equal(res.length, 0)
    res.set('Content-Length', '5px')
    assert.equal(res.length, 5)
    res.set('Content-Length', 'junk')
    assert.equal(res.length, 0)
  })

  it('should be counted from the body otherwise', () => {
    const without = body => {
      const res = response()
      res.body = body
      res.remove('Content-Length')
      return res.length
    }
    assert.equal(without('foo'), 3)
    assert.equal(without('dès'), 4)
    assert.equal(without(Buffer.from('foo bar')), 7)
    assert.equal(without({ hello: 'world' }), 17)
    assert.equal(without([1, 2]), 5)
  })

  it('should be undefined for a stream and for nothing', () => {
    const res = response()
    assert.equal(res.length, undefined)
    const file = fs.createReadStream(__filename)
    res.body = file
    assert.equal(res.length, undefined)
    file.destroy()
    res.body = null
    assert.equal(res.length, undefined)
  })
})

describe('ctx.length=', () => {
  it('should set Content-Length', () => {
    const res = response()
    res.length = 10
    assert.equal(res.get('Content-Length'), '10')
  })

  it('should not when Transfer-Encoding is there', () => {
    const res = response()
    res.set('Transfer-Encoding', 'chunked')
    res.length = 1
    assert.equal(res.get('Content-Length'), '')
    assert.equal(res.length, undefined)
  })
})

engines('ctx.length', ({ it, ask }) => {
  const bodies = { text: ['dès', 4], buffer: [Buffer.from('abc'), 3], json: [{ a: 'é' }, 10], empty: ['', 0] }

  for (const [kind, [body, length]] of Object.entries(bodies)) {
    it(`should be sent for ${kind}, and for HEAD too`, async () => {
      const setup = app => app.use(ctx => { ctx.body = body })
      for (const method of ['GET', 'HEAD']) {
        const res = await ask(setup, `${method} /`)
        assert.equal(res.headers['content-length'], String(length))
        assert.equal(res.body.length, method === 'HEAD' ? 0 : length)
      }
    })
  }
})
