'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const Cookies = require('cookies')
const cookieReader = require('../../middleware/_shared/cookie')

const NAMES = ['a', 'koa:sess', 'a.b', 'x-y', '$', 'sid']
const HEADERS = [
  undefined, '', 'a=1', 'a=', 'a', '=1', 'a=1; a=2', 'b=1; a=2', 'b=1;a=2', 'b=1;    a=2', 'aa=1; a=2', 'A=1',
  'a="1"', 'a="', 'a=""', 'a="1', 'a= 1 ', 'a=1=2', 'a=1, b=2', 'koa:sess=xyz; sid=1', 'koa:sess.sig=1', 'a.b=1',
  'axb=1', 'x-y=1; $=2', 'b=a=1', 'b="; a=1"', 'a=é', '; a=1', ' a=1', '\ta=1'
]

describe('cookieReader(name)', () => {
  it('should read what cookies reads', () => {
    for (const cookie of HEADERS) {
      const headers = { cookie }
      const cookies = new Cookies({ headers }, {}, { secure: false })
      for (const name of NAMES) {
        const found = cookieReader(name)({ get: () => cookie ?? '', cookies })
        assert.equal(found, cookies.get(name), `${name} of ${cookie}`)
      }
    }
  })

  it('should ask cookies of the app\'s own', () => {
    const cookies = { get: name => `${name}, decrypted` }
    assert.equal(cookieReader('a')({ get: () => 'a=1', cookies }), 'a, decrypted')
  })
})
