'use strict'

const { MISSPELT, Options, Rule, boolean, fn, list, none, object, off, oneOf, shape, string, text } = require('../../lib/shared/options')

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

const name = string.or(new Rule('a symbol', value => typeof value === 'symbol', undefined, 'symbol'))

/** What a route says about itself, for openapi(): names of OpenAPI's Operation Object, and `name` and `hidden`. */
const operation = module.exports.operation = new Options('router', {
  name: name.says('as the first argument of a route with a name'),
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

// @koa/router takes any other name here, too: code that runs with it may pass the options of a whole route.
const free = { open: MISSPELT }

module.exports.register = new Options('router.register()', shape({
  name: name.or(none).says('of the route, for `url()`'),
  end: boolean.says('`false`: longer paths match, too', { default: true }),
  sensitive: boolean.says('`true`: `/a` and `/A` differ', { otherwise: "the router's" }),
  strict: boolean.says('`true`: `/a` and `/a/` differ', { otherwise: "the router's" }),
  ignoreCaptures: boolean.says('`true`: the path sets neither `ctx.captures` nor `ctx.params`', { default: false }),
  prefix: string.says("kept in the layer's `opts`; only that of the router is put before the path"),
  operation: new Rule('an object', operation.rule.test, operation.rule.inside).says(
    'what the route says about itself to [openapi](../openapi/README.md)', { type: 'Operation' })
}, free))

module.exports.url = new Options('router.url()', shape({
  query: string.or(object).or(off).or(none).says('what is put behind the path: a string, or an object of values and lists', {
    type: 'string | Record<string, unknown> | false | null'
  }),
  encode: fn.or(off).says('encodes the value of a param; `false`: values are sent as they are', {
    default: encodeURIComponent, otherwise: '`encodeURIComponent`', type: '((value: string) => string) | false'
  }),
  delimiter: string.says('what ends a param', { otherwise: "`'/#?'`; with `syntax: 8` `'/'`" }),
  sensitive: boolean.says('`true`: a value has to match the pattern of its param in case, too; syntax 6', { default: false }),
  validate: boolean.says('`false`: a value need not match the pattern of its param; syntax 6', { default: true })
}, free))
