'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.append(name, value)', () => {
  it('should set the first', () => {
    const ctx = context()
    ctx.append('x-foo', 'bar1')
    assert.equal(ctx.response.header['x-foo'], 'bar1')
  })

  it('should add to it', () => {
    const ctx = context()
    ctx.append('x-foo', 'bar1')
    ctx.append('X-Foo', 'bar2')
    ctx.response.append('x-foo', ['bar3', 4])
    assert.deepEqual(ctx.response.header['x-foo'], ['bar1', 'bar2', 'bar3', '4'])
  })

  it('should start with several', () => {
    const ctx = context()
    ctx.append('Link', ['<a>', '<b>'])
    ctx.append('Link', '<c>')
    assert.deepEqual(ctx.response.get('Link'), ['<a>', '<b>', '<c>'])
  })

  it('should be undone by ctx.set() and ctx.remove()', () => {
    const ctx = context()
    ctx.append('Link', '<a>')
    ctx.set('Link', '<b>')
    ctx.append('Link', '<c>')
    assert.deepEqual(ctx.response.get('Link'), ['<b>', '<c>'])
    ctx.remove('Link')
    ctx.append('Link', '<d>')
    assert.equal(ctx.response.get('Link'), '<d>')
  })
})

engines('ctx.append()', ({ it, ask }) => {
  it('should put each on the wire', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.append('Set-Cookie', 'a=1')
      ctx.append('Set-Cookie', 'b=2')
      ctx.append('X-Foo', 'one')
      ctx.append('X-Foo', 'two')
      ctx.body = ''
    }), 'GET /')
    assert.deepEqual(res.headers['set-cookie'], ['a=1', 'b=2'])
    assert.equal(res.headers['x-foo'], 'one, two')
  })
})
