'use strict'

/** @type {any} */
const original = require('helmet')
const { KeptHeaders } = require('../../lib/shared/error-path')
const { fieldValue } = require('../../lib/shared/options')
const { misuse } = require('../_shared/usage-error')
const OPTIONS = require('./options')

/**
 * Set the headers of helmet (https://helmetjs.github.io). helmet computes their values once, at
 * registration.
 *
 *    app.use(helmet())
 *    app.use(helmet({ contentSecurityPolicy: { directives: { scriptSrc: ["'self'"] } } }))
 *
 * Each of helmet's own middleware is a property: `helmet.contentSecurityPolicy(options)`,
 * `helmet.hsts(options)` and so on.
 *
 * @param {object} [options] helmet's. A directive may be a function `(req, res) => source`, called
 *   for every request with node's objects
 * @return {Function} middleware
 * @throws {TypeError} for an option that helmet refuses
 * @api public
 */
module.exports = function helmet (options) {
  options = OPTIONS.check(options)
  const policy = options.contentSecurityPolicy
  if (!hasFunctions(policy)) return write('helmet', record(original(options)))

  return run('helmet', policy, record(original({ ...options, contentSecurityPolicy: false })))
}

for (const { name, make, options: known } of OPTIONS.parts) {
  module.exports[name] = Object.assign((/** @type {any} */ options) => {
    known.check(options)
    return hasFunctions(options) ? run(name, options, []) : write(name, record(make(options)))
  }, make)
}

function hasFunctions (policy) {
  const directives = policy?.directives
  if (directives === null || typeof directives !== 'object') return false
  return Object.values(directives).some(value => {
    return typeof value?.[Symbol.iterator] === 'function' &&
      Array.from(value).some(source => typeof source === 'function')
  })
}

// What a middleware of helmet does to a response: [name, value] sets a header, [name] removes it.
function record (middleware) {
  const steps = []
  const res = {
    setHeader (name, value) {
      const refusal = fieldValue.refusal(value, `the value of ${name}`)
      if (refusal !== undefined) throw misuse('helmet', refusal)
      steps.push([name, value])
    },
    removeHeader (name) { steps.push([name]) }
  }
  middleware({}, res, rethrow)
  return steps
}

function write (name, steps) {
  const kept = new KeptHeaders(namesOf(steps), { yields: true })
  return named(name, (ctx, next) => {
    apply(ctx, steps)
    kept.keepFor(ctx)
    return next()
  })
}

/** @param {object} policy the options of helmet.contentSecurityPolicy(), which alone may have functions */
function run (name, policy, steps) {
  const middleware = original.contentSecurityPolicy(policy)
  const header = `Content-Security-Policy${policy.reportOnly ? '-Report-Only' : ''}`
  const kept = new KeptHeaders([header, ...namesOf(steps)], { yields: true })
  return named(name, (ctx, next) => {
    kept.keepFor(ctx)
    try {
      middleware(ctx.req, ctx.res, rethrow)
    } finally {
      apply(ctx, steps) // after the policy, as in helmet, and also if a function of it throws
    }
    return next()
  })
}

/** Those that are set, and not those that are removed. */
function namesOf (steps) {
  return steps.filter(([, value]) => value !== undefined).map(([name]) => name)
}

function apply ({ response }, steps) {
  for (let i = 0; i < steps.length; i++) {
    const [name, value] = steps[i]
    if (value === undefined) response.remove(name)
    else response.set(name, value)
  }
}

function rethrow (err) {
  if (err) throw err
}

function named (name, fn) {
  return Object.defineProperty(fn, 'name', { value: name })
}

// the names, for `import { hsts } from 'kone/middleware/helmet'`
0 && (
  exports.contentSecurityPolicy =
  exports.crossOriginEmbedderPolicy =
  exports.crossOriginOpenerPolicy =
  exports.crossOriginResourcePolicy =
  exports.originAgentCluster =
  exports.referrerPolicy =
  exports.strictTransportSecurity =
  exports.xContentTypeOptions =
  exports.xDnsPrefetchControl =
  exports.xDownloadOptions =
  exports.xFrameOptions =
  exports.xPermittedCrossDomainPolicies =
  exports.xPoweredBy =
  exports.xXssProtection =
  exports.dnsPrefetchControl =
  exports.frameguard =
  exports.hidePoweredBy =
  exports.hsts =
  exports.ieNoOpen =
  exports.noSniff =
  exports.permittedCrossDomainPolicies =
  exports.xssFilter =
  null
)
