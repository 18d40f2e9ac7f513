'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const sent = (field, value) => context({ headers: { [field]: value } })

describe('ctx.acceptsEncodings()', () => {
  it('should list them best first, identity included', () => {
    assert.deepEqual(sent('accept-encoding', 'deflate;q=.2, gzip').acceptsEncodings(),
      ['gzip', 'deflate', 'identity'])
    assert.deepEqual(context().acceptsEncodings(), ['identity'])
    assert.deepEqual(sent('accept-encoding', '').acceptsEncodings(), ['identity'])
  })

  it('should be the best match', () => {
    const ctx = sent('accept-encoding', 'deflate;q=.2, gzip')
    assert.equal(ctx.acceptsEncodings('deflate', 'gzip'), 'gzip')
    assert.equal(ctx.request.acceptsEncodings(['deflate', 'identity']), 'deflate')
    assert.equal(context().acceptsEncodings('gzip', 'deflate', 'identity'), 'identity')
    assert.equal(sent('accept-encoding', 'identity;q=0').acceptsEncodings('gzip'), false)
  })
})

describe('ctx.acceptsCharsets()', () => {
  it('should list them best first', () => {
    assert.deepEqual(sent('accept-charset', 'utf-8, iso-8859-1;q=0.2, utf-7;q=0.5').acceptsCharsets(),
      ['utf-8', 'utf-7', 'iso-8859-1'])
  })

  it('should be the best match', () => {
    const ctx = sent('accept-charset', 'utf-8, iso-8859-1;q=0.2, utf-7;q=0.5')
    assert.equal(ctx.acceptsCharsets('utf-7', 'utf-8'), 'utf-8')
    assert.equal(ctx.request.acceptsCharsets(['utf-7', 'iso-8859-1']), 'utf-7')
    assert.equal(ctx.acceptsCharsets('utf-16'), false)
    assert.equal(context().acceptsCharsets('utf-7', 'utf-8'), 'utf-7')
  })
})

describe('ctx.acceptsLanguages()', () => {
  it('should list them best first', () => {
    assert.deepEqual(sent('accept-language', 'en;q=0.8, es, pt').acceptsLanguages(), ['es', 'pt', 'en'])
  })

  it('should be the best match', () => {
    const ctx = sent('accept-language', 'en;q=0.8, es, pt')
    assert.equal(ctx.acceptsLanguages('es', 'en'), 'es')
    assert.equal(ctx.request.acceptsLanguages(['fr', 'en']), 'en')
    assert.equal(ctx.acceptsLanguages('fr', 'au'), false)
    assert.equal(context().acceptsLanguages('es', 'en'), 'es')
  })
})

engines('ctx.acceptsEncodings(), Charsets and Languages', ({ it, see }) => {
  it('should read the headers of the wire', async () => {
    const headers = {
      'accept-encoding': 'br;q=.5, gzip',
      'accept-charset': 'utf-8',
      'accept-language': 'de, en;q=.5'
    }
    assert.deepEqual(await see(ctx => [
      ctx.acceptsEncodings('br', 'gzip'),
      ctx.acceptsCharsets(),
      ctx.acceptsLanguages('en', 'de')
    ], 'GET /', { headers }), ['gzip', ['utf-8'], 'de'])
  })
})
