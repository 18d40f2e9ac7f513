'use strict'

const createError = require('../../lib/shared/http-errors')
const { described } = require('../_shared/described')
const { manual, misuse } = require('../_shared/usage-error')
const lists = require('./lists')
const OPTIONS = require('./options')
const redactor = require('./redact')
const responder = require('./response')

const { keyOf, standardOf } = OPTIONS

/** How to read each part of a request, in the order in which parts are validated. */
const PARTS = {
  params: ctx => ctx.params || {},
  query: ctx => ({ ...ctx.query }),
  headers: ctx => ({ ...ctx.headers }),
  cookies: ctx => parseCookies(ctx.get('cookie')),
  body: readParsedBody
}

// A request can have very many issues, at long and deep paths: without limits the response could be much larger than
// the request.
const MAX_ISSUES = 100
const MAX_PATH = 100
const MAX_KEY = 100 // characters

/**
 * Validate parts of a request with schemas of any library that implements Standard Schema v1
 * (zod, valibot, arktype and others). `ctx.valid` has what the schemas
 * return, coerced and with defaults, for the middleware that follow. A request that does not fit gets a
 * 400 with the issues as `application/problem+json` (RFC 9457).
 *
 *    router.post('/items', validate({ body: Item }), ctx => {
 *      ctx.body = { total: ctx.valid.body.price * 2 }
 *    })
 *
 * @param {object} options see options.js
 * @return {Function} middleware
 * @throws {TypeError} without a schema, for one that is not a Standard Schema v1, or for an option
 *   of another name
 * @api public
 */
module.exports = function validate (options) {
  if (standardOf(options)) throw misuse('validate', 'a schema is of a part of the request: validate({ body: schema })')
  const { onError, response, serialize } = OPTIONS.check(options)
  const schemas = Object.keys(PARTS)
    .filter(part => options?.[part] !== undefined)
    .map(part => [part, part === 'query' ? lists(options[part]) : standardOf(options[part])])
  if (schemas.length === 0 && response === undefined) {
    throw misuse('validate', `options must have a schema for at least one of ${Object.keys(PARTS).join(', ')}, response`)
  }
  const isChecked = process.env.NODE_ENV !== 'production'
  const responses = response && byStatus(response)
  const respond = responses && responder(responses, { check: isChecked, serialize })
  const settings = { onError, respond }

  function validate (ctx, next) {
    const results = []
    let isAsync = false
    for (const [part, schema] of schemas) {
      const input = PARTS[part](ctx)
      const result = call(part, schema, input)
      if (typeof result?.then === 'function') isAsync = true
      results.push({ part, input, result })
    }
    if (isAsync) return settle(results).then(settled => conclude(ctx, next, settled, settings))
    return conclude(ctx, next, results, settings)
  }

  return described(validate, { schemas: { ...options, response: responses } })
}

/** One schema is that of every success. */
function byStatus (response) {
  return standardOf(response) === undefined ? response : { '2XX': response }
}

function call (part, schema, input) {
  try {
    return schema.validate(input)
  } catch (cause) {
    throw failed(part, cause)
  }
}

// Await all: otherwise a rejection stays unhandled when another part failed first.
async function settle (results) {
  const settled = await Promise.allSettled(results.map(({ result }) => result))
  return results.map(({ part, input }, i) => {
    const { status, value, reason } = Object(settled[i])
    if (status === 'rejected') throw failed(part, reason)
    return { part, input, result: value }
  })
}

function conclude (ctx, next, results, { onError, respond }) {
  const valid = {}
  const issues = []
  for (const { part, input, result } of results) {
    if (result === null || typeof result !== 'object') {
      throw failed(part, new TypeError('it returned neither a value nor issues'))
    }
    if (result.issues) issues.push(...describe(part, input, result.issues))
    else valid[part] = joined(ctx.valid?.[part], result.value)
  }
  if (issues.length > 0) return refuse(ctx, issues.slice(0, MAX_ISSUES), onError)
  ctx.valid = { ...ctx.valid, ...valid }
  return respond === undefined ? next() : next().then(() => respond(ctx))
}

/** What two `validate` return for one part: the type of `ctx.valid` has the keys of both. */
function joined (before, value) {
  return isPlain(before) && isPlain(value) ? { ...before, ...value } : value
}

function isPlain (value) {
  return value !== undefined && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}

function refuse (ctx, issues, onError) {
  if (onError) return onError(createError(400, 'The request is not valid', { issues }), ctx)
  ctx.status = 400
  ctx.type = 'application/problem+json'
  // a string, because kone and Koa set another type for an object
  ctx.body = JSON.stringify({ type: 'about:blank', title: 'Bad Request', status: 400, issues })
}

function describe (part, input, issues) {
  if (!Array.isArray(issues) || issues.length === 0) return [{ in: part, path: [], message: 'Invalid value' }]
  const redact = redactor(input)
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const keys = Array.from({ length: Math.min(path.length, MAX_PATH) }, (_, i) => keyOf(path[i]))
    return {
      in: part,
      path: keys.map(key => typeof key === 'number' ? key : shorten(String(key))),
      message: path.length > MAX_PATH ? 'Invalid value' : redact(String(message), keys)
    }
  })
}

function shorten (key) {
  return key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}…` : key
}

// A schema that fails itself is an error of the program, not of the client.
function failed (part, cause) {
  return new Error(`validate: the schema of ${part} failed: ${cause?.message ?? cause} (${manual('validate')})`, { cause })
}

function readParsedBody (ctx) {
  const { body } = ctx.request
  if (body === undefined && ctx.is('json', 'urlencoded')) {
    throw new Error('validate: ctx.request.body is undefined, although the request has a body: ' +
      `register a body parser before validate({ body }) (${manual('validate')})`)
  }
  return body
}

// Values as ctx.cookies.get() returns them: not decoded, the first of a name, without its quotes.
function parseCookies (header) {
  const cookies = Object.create(null)
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals === -1) continue
    const name = pair.slice(0, equals).trim()
    if (name === '' || name in cookies) continue
    const value = pair.slice(equals + 1)
    cookies[name] = value[0] === '"' ? value.slice(1, -1) : value
  }
  return { ...cookies }
}
