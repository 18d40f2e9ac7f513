'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

const short = {
  request: {
    getters: [
      'origin', 'href', 'subdomains', 'protocol', 'host', 'hostname', 'URL', 'header', 'headers', 'secure',
      'stale', 'fresh', 'ips', 'ip'
    ],
    accessors: ['querystring', 'search', 'method', 'query', 'path', 'url', 'accept'],
    methods: ['acceptsLanguages', 'acceptsEncodings', 'acceptsCharsets', 'accepts', 'get', 'is']
  },
  response: {
    getters: ['headerSent', 'writable'],
    accessors: ['status', 'message', 'body', 'length', 'type', 'lastModified', 'etag'],
    methods: [
      'attachment', 'redirect', 'remove', 'vary', 'has', 'set', 'append', 'flushHeaders', 'back'
    ]
  }
}

/** A ctx whose `room` is replaced by an object that has `name` alone. */
function withOnly (room, name, descriptor) {
  const ctx = context()
  ctx[room] = Object.defineProperty({}, name, descriptor)
  return ctx
}

for (const [room, { getters, accessors, methods }] of Object.entries(short)) {
  describe(`what ctx has from ctx.${room}`, () => {
    for (const name of [...getters, ...accessors]) {
      it(`should read ctx.${name} from there at every access`, () => {
        let value = 1
        const ctx = withOnly(room, name, { get: () => value })
        assert.equal(ctx[name], 1)
        value = 2
        assert.equal(ctx[name], 2)
      })
    }

    for (const name of accessors) {
      it(`should set ctx.${name} there`, () => {
        let value
        const ctx = withOnly(room, name, { set: val => { value = val } })
        ctx[name] = 'set'
        assert.equal(value, 'set')
      })
    }

    for (const name of methods) {
      it(`should call ctx.${name}() there, with its arguments and result`, () => {
        const calls = []
        const ctx = withOnly(room, name, {
          value (...args) {
            calls.push([this, args])
            return 'result'
          }
        })
        assert.equal(ctx[name]('a', 'b'), 'result')
        assert.equal(calls[0][0], ctx[room])
        assert.deepEqual(calls[0][1], ['a', 'b'])
      })
    }
  })
}

describe('ctx.socket', () => {
  it('should be the one of the request', () => {
    const ctx = context()
    assert.equal(ctx.socket, ctx.request.socket)
  })
})

describe('ctx.idempotent', () => {
  it('should be the one of the request', () => {
    assert.equal(context({ method: 'GET' }).idempotent, true)
    assert.equal(context({ method: 'POST' }).idempotent, false)
  })
})
