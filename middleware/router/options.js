'use strict'

const { Options, Rule, boolean, fn, list, object, oneOf, string, text } = require('../../lib/options')

const isPattern = value => typeof value === 'string' || value instanceof RegExp
const hosts = new Rule('a string, a RegExp or an array of them', value => {
  return Array.isArray(value) ? value.length > 0 && value.every(isPattern) : isPattern(value)
})

module.exports = new Options('router', {
  prefix: string.says('put before every path; may have params', { type: "PrefixT | ('' extends PrefixT ? string : never)" }),
  host: hosts.says('what `ctx.host` must match, or an array of which it must match one', { otherwise: 'any', type: 'string | RegExp | Array<string | RegExp>' }),
  methods: list(text, 'names of methods').says('methods that `allowedMethods()` treats as implemented; others are 501', {
    default: ['HEAD', 'OPTIONS', 'GET', 'PUT', 'PATCH', 'POST', 'DELETE']
  }),
  routerPath: string.says("path that is matched instead of the request's", { otherwise: '`ctx.path`' }),
  exclusive: boolean.says('run only the last matching route', { default: false }),
  sensitive: boolean.says('`true`: `/a` and `/A` differ', { default: false }),
  strict: boolean.says('`true`: `/a` and `/a/` differ', { default: false }),
  syntax: oneOf(6, 8).says('6: paths of path-to-regexp 6.3; 8: paths of path-to-regexp 8, like ' +
    '[@koa/router](https://github.com/koajs/router) from 14 on', { default: 6, type: 'SyntaxT' })
})

/** What a route says about itself, for openapi(): names of OpenAPI's Operation Object, and `name` and `hidden`. */
module.exports.operation = new Options('router', {
  name: string.or(new Rule('a symbol', value => typeof value === 'symbol', undefined, 'symbol')).says(
    'as the first argument of a route with a name'),
  summary: string.says('one line'),
  description: string.says('CommonMark'),
  tags: list(text, 'names').says('groups of the document'),
  operationId: text.says('unique in the app', { otherwise: "the route's name" }),
  deprecated: boolean.says('`true`: clients should stop using it'),
  security: list(object, 'objects').says('names of `components.securitySchemes`, with their scopes', {
    type: 'Array<Record<string, string[]>>'
  }),
  responses: object.says('by status: a description, or a Response Object', {
    type: 'Record<number | string, string | { description?: string, [field: string]: unknown }>'
  }),
  externalDocs: object.says('where to read on', { type: '{ url: string, description?: string }' }),
  servers: list(object, 'objects').says('as in OpenAPI', { type: 'Array<{ url: string, [field: string]: unknown }>' }),
  callbacks: object.says('as in OpenAPI', { type: 'Record<string, unknown>' }),
  hidden: boolean.says('`true`: not in the document', { default: false })
})

module.exports.allowedMethods = new Options('router.allowedMethods()', {
  throw: boolean.says('throw the 405 or 501', { default: false }),
  notImplemented: fn.says('makes the error that is thrown for 501', { type: '() => unknown' }),
  methodNotAllowed: fn.says('makes the error that is thrown for 405', { type: '() => unknown' })
})
