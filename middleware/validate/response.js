'use strict'

const { isBlob, isResponse, isWebStream } = require('../../lib/shared/web')
const { SERIALIZED } = require('../_shared/context')
const convert = require('../_shared/json-schema')
const { manual, misuse } = require('../_shared/usage-error')
const { keyOf } = require('./options')

/**
 * What happens to a body when the handlers have returned: in development it must fit its schema, and a route that asks
 * for it gets a compiled serialiser.
 *
 * @param {Record<string, object>} schemas status → Standard Schema
 * @param {{ check: boolean, serialize: boolean }} what
 * @return {undefined | function(object): (undefined | Promise<void>)} of ctx; undefined if there is nothing to do
 * @throws {TypeError} if fast-json-stringify is not installed, or cannot compile a schema
 * @api private
 */
module.exports = function responder (schemas, { check, serialize }) {
  const serializers = serialize ? compiled(schemas) : {}
  if (!check && !serialize) return undefined

  return function (ctx) {
    const { body, status } = ctx
    const key = schemas[status] === undefined && status >= 200 && status < 300 ? '2XX' : status
    if (schemas[key] === undefined || !isJson(ctx, body)) return undefined
    const checked = check ? verify(ctx, schemas[key]['~standard'], JSON.parse(JSON.stringify(body))) : undefined
    if (typeof checked?.then === 'function') return checked.then(() => send(ctx, body, serializers[key]))
    return send(ctx, body, serializers[key])
  }
}

// An object that is sent as JSON: no stream, no bytes, no text, also not one of the web's.
function isJson (ctx, body) {
  return body !== null && typeof body === 'object' && !Buffer.isBuffer(body) && typeof body.pipe !== 'function' &&
    !isBlob(body) && !isWebStream(body) && !isResponse(body) && Boolean(ctx.response.is('json'))
}

function verify (ctx, schema, value) {
  const result = schema.validate(value)
  return typeof result?.then === 'function' ? result.then(result => conclude(ctx, result)) : conclude(ctx, result)
}

function conclude (ctx, { issues }) {
  if (!issues) return
  const fields = issues.slice(0, 10).map(({ path = [], message }) => {
    return `${path.map(keyOf).join('.') || 'the body'}: ${message}`
  })
  throw new Error(`validate: the response ${ctx.status} of ${ctx.method} ${ctx._matchedRoute ?? ctx.path} ` +
    `does not fit its schema: ${fields.join('; ')} (${manual('validate')})`)
}

function send (ctx, body, serializer) {
  if (serializer === undefined) return
  const type = ctx.response.get('Content-Type')
  ctx.body = ctx[SERIALIZED] = serializer(body)
  ctx.set('Content-Type', type)
}

function compiled (schemas) {
  let build
  try {
    build = require('fast-json-stringify')
  } catch (cause) {
    throw misuse('validate', 'options.serialize needs fast-json-stringify: npm install fast-json-stringify', { cause })
  }
  return Object.fromEntries(Object.entries(schemas).map(([status, schema]) => {
    try {
      const { $schema, ...json } = convert(schema)
      return [status, build(json)]
    } catch (cause) {
      throw misuse('validate', `options.response${status === '2XX' ? '' : ` ${status}`} has no serialiser: ${cause.message}`, { cause })
    }
  }))
}
