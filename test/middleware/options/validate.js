'use strict'

const validate = require('kone/middleware/validate')
const { FUNCTIONS } = require('./values')

const SCHEMA = { '~standard': { version: 1, vendor: 'test', validate: value => ({ value }) } }
const SCHEMAS = [5, null, {}, { '~standard': { version: 2, validate () {} } }]

module.exports = {
  // it needs one schema at least
  make: options => validate(options === undefined || options === null || options.constructor === Object
    ? { query: SCHEMA, ...options }
    : options),
  options: {
    params: SCHEMAS,
    query: SCHEMAS,
    headers: SCHEMAS,
    cookies: SCHEMAS,
    body: SCHEMAS,
    onError: FUNCTIONS
  }
}
