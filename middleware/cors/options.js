'use strict'

const { Options, Rule, boolean, each, fieldValue, fn, list } = require('../../lib/shared/options')
const { ORIGIN } = require('../_shared/origin')

const names = fieldValue.or(list(fieldValue, 'names'))
const seconds = new Rule('a whole number of seconds', value => /^\d+$/.test(value) && !Array.isArray(value))

module.exports = new Options('cors', {
  origin: ORIGIN.says('an origin, a RegExp, an array of both, or `ctx => string`, which may return a promise; a RegExp must match the whole origin. Any other origin, ' +
    'and an empty string from the function, gets no headers', {
    otherwise: "`'*'`",
    type: 'Origin | readonly Origin[] | ((ctx: Kone.Context) => string | Promise<string>)'
  }),
  allowMethods: names.says('methods that a page may use, a string or an array', { otherwise: 'GET,HEAD,PUT,POST,DELETE,PATCH' }),
  exposeHeaders: names.says('headers of the response that a page may read, a string or an array'),
  allowHeaders: names.says('headers that a page may send, a string or an array', { otherwise: 'those that the client requests' }),
  maxAge: seconds.says('how long a client may cache a preflight response', { unit: 's', type: 'string | number' }),
  credentials: boolean.or(fn).says('a boolean, or `ctx => boolean`, which may return a promise: whether a page may send cookies and read the response; needs `origin`', {
    otherwise: '`false`', type: 'boolean | ((ctx: Kone.Context) => boolean | Promise<boolean>)'
  }),
  keepHeadersOnError: boolean.says('responses to errors have the headers, too', { default: true }),
  ...each(boolean.says('as in @koa/cors', { otherwise: '`false`' }), 'secureContext', 'privateNetworkAccess')
})
