'use strict'

const { Options, fieldName, off } = require('../../lib/shared/options')

const name = fieldName.or(off)

module.exports = new Options('requestId', {
  header: name.says('request header with the id of the client; `false`: not read', { default: 'X-Request-Id' }),
  query: name.says('query parameter with the id of the client, read before the header; `false`: not read', { default: 'requestId' }),
  expose: name.says('response header that sends the id; `false`: not sent', { default: 'X-Request-Id' })
})
