'use strict'

const { Options, Rule, boolean, each, fn, list, object, off, oneOf, refused, shape, text } = require('../../lib/shared/options')
const { size } = require('../_shared/bytes')
const form = require('../_shared/form')
const { isCharset } = require('./charset')
const { KINDS } = require('./parsers')

const types = text.or(list(text, 'content types'))
const limit = size.says('the largest body, after decompression; 0 allows only an empty one', { type: 'Size', default: '1mb' })

module.exports = new Options('bodyParser', {
  enableTypes: list(oneOf(...KINDS), "'json', 'form', 'text' and 'xml'").says(
    'kinds of bodies that are parsed: `json`, `form`, `text`, `xml`', { default: ['json', 'form'], type: 'Type[]' }),
  ...each(limit, 'jsonLimit', 'textLimit', 'xmlLimit'),
  formLimit: size.says('the largest form, after decompression', { default: '56kb', type: 'Size' }),
  decoderMemory: size.says(
    'memory of all decoders of compressed bodies in the process together; further bodies are queued', { default: '64mb', type: 'Size' }),
  encoding: new Rule('the name of a charset', isCharset).says(
    'charset of a request whose Content-Type has no charset', { default: 'utf-8', type: 'string' }),
  strict: boolean.says('JSON must be an object or an array', { default: true, alias: 'jsonStrict' }),
  detectJSON: fn.says('`ctx => boolean`; `true`: parse the body as JSON, whatever its type', { type: '(ctx: Kone.Context) => boolean' }),
  extendTypes: shape(each(types, ...KINDS)).says(
    "more content types per kind, in the syntax of type-is: `{ json: ['application/x-js'] }`",
    { type: '{ [type in Type]?: string | string[] }' }),
  onerror: fn.says('`(err, ctx)`, called instead of throwing, and awaited', { alias: 'onError', type: '(err: Error & { status?: number }, ctx: Kone.Context) => unknown' }),
  parsedMethods: list(text, 'methods').says(
    'methods whose bodies are parsed; for other methods `ctx.request.body` stays undefined', { otherwise: 'all' }),
  onProtoPoisoning: oneOf('error', 'remove', 'ignore').says('what happens to `__proto__` in JSON', { default: 'error' }),
  queryString: object.says('limits of forms', {
    members: form.OPTIONS.members, type: 'FormOptions | Record<string, unknown>'
  }),
  qs: new Rule('an object with a parse function', qs => typeof qs?.parse === 'function').says(
    'an object that parses forms instead; its `parse` gets `queryString`', { type: '{ parse (text: string, options?: any): any }' }),
  // of @koa/bodyparser 5 and 6
  patchNode: off.or(refused('read ctx.request.body')),
  enableRawChecking: off.or(refused('set ctx.request.body where the body was read'))
})
