'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

const GETTERS = {
  request: 'origin href subdomains protocol host hostname URL header headers secure stale fresh ips socket idempotent',
  response: 'headerSent writable'
}
const ACCESSORS = {
  request: 'querystring search method query path url accept ip',
  response: 'status message body length type lastModified etag'
}
const METHODS = {
  request: 'acceptsLanguages acceptsEncodings acceptsCharsets accepts get is',
  response: 'attachment redirect remove vary has set append flushHeaders back'
}

/** Calls `fn` for each name, with a ctx whose request or response is an object that has `descriptor` alone. */
function each (names, descriptor, fn) {
  for (const [part, text] of Object.entries(names)) {
    for (const name of text.split(' ')) {
      const ctx = context()
      ctx[part] = Object.defineProperty({}, name, descriptor)
      fn(name, ctx, part)
    }
  }
}

describe('what ctx has from ctx.request and ctx.response', () => {
  let value
  each(GETTERS, { get: () => value }, reads)
  each(ACCESSORS, { get: () => value }, reads)

  function reads (name, ctx, part) {
    it(`should read ctx.${name} from ctx.${part} at every access`, () => {
      for (value of [1, 2]) assert.equal(ctx[name], value)
    })
  }

  each(ACCESSORS, { set: given => { value = given } }, (name, ctx, part) => {
    it(`should set ctx.${name} at ctx.${part}`, () => {
      ctx[name] = name
      assert.equal(value, name)
    })
  })

  each(METHODS, { value (...args) { return [this, ...args] } }, (name, ctx, part) => {
    it(`should call ctx.${name}() of ctx.${part}, with its arguments and result`, () => {
      assert.deepEqual(ctx[name]('a', 'b'), [ctx[part], 'a', 'b'])
    })
  })
})
