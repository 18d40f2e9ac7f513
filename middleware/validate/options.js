'use strict'

const { Options, Rule, boolean, fn, isObject, record } = require('../../lib/shared/options')

const standardOf = schema => Object(schema) === schema ? schema['~standard'] : undefined

/** The key in a segment of an issue's path, which Standard Schema also writes as `{ key }`. */
const keyOf = segment => Object(segment) === segment ? segment.key : segment

const schema = new Rule(
  'a Standard Schema v1: schemas of zod (from 3.24), valibot (from 1.0) and arktype (from 2.0) are',
  value => standardOf(value)?.version === 1 && typeof standardOf(value).validate === 'function',
  undefined, 'StandardSchema'
)
const hasStatuses = keys => keys.length > 0 && keys.every(key => /^[1-5]\d\d$/.test(key))
const byStatus = new Rule('an object of them by status', value => isObject(value) && hasStatuses(Object.keys(value)), record(schema).inside)

module.exports = new Options('validate', {
  params: schema.says('schema of `ctx.params`, which the router sets'),
  query: schema.says('schema of `ctx.query`: strings, and arrays for a repeated key; it must coerce other types; one value fits an array, too'),
  headers: schema.says('schema of `ctx.headers`, with names in lower case'),
  cookies: schema.says('schema of the cookies, as an object of values as `ctx.cookies.get(name)` returns them; signatures are not verified'),
  body: schema.says('schema of `ctx.request.body`, which a body parser sets before it: `bodyParser`, `upload` or another package'),
  response: schema.or(byStatus).says(
    'schema of the JSON body of a success (2xx), or schemas by status: `{ 200: Item, 404: Problem }`', {
      type: 'StandardSchema | { readonly [status: number]: StandardSchema }'
    }),
  serialize: boolean.says('`true`: fast-json-stringify, which the app installs, writes the bodies of `response`', { default: false }),
  onError: fn.says('`(err, ctx)`, called instead of responding with the 400: it responds or throws', {
    otherwise: 'a 400', type: '(err: ValidationError, ctx: Kone.Context) => unknown'
  })
})

module.exports.keyOf = keyOf
module.exports.standardOf = standardOf
