'use strict'

const { Options, Rule, off } = require('../../lib/options')

// RFC 9110 5.1: a field name is a token
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const name = new Rule('a name', value => typeof value === 'string' && TOKEN.test(value), undefined, 'string').or(off)

module.exports = new Options('requestId', {
  header: name.says('request header with the id of the client; `false`: not read', { default: 'X-Request-Id' }),
  query: name.says('query parameter with the id of the client, read before the header; `false`: not read', { default: 'requestId' }),
  expose: name.says('response header that sends the id; `false`: not sent', { default: 'X-Request-Id' })
})
