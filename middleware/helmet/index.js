'use strict'

const original = require('helmet')

/**
 * Set the headers of helmet (https://helmetjs.github.io), which decides their values once, now.
 *
 *    app.use(helmet())
 *    app.use(helmet({ contentSecurityPolicy: { directives: { scriptSrc: ["'self'"] } } }))
 *
 * Each of helmet's own middleware is there by its name: `helmet.contentSecurityPolicy(options)`,
 * `helmet.hsts(options)` and so on.
 *
 * @param {Object} [options] helmet's. A directive may be a function `(req, res) => source`, called
 *   for every request with node's objects
 * @return {Function} middleware
 * @throws {Error} what helmet throws for bad options
 * @api public
 */
module.exports = function helmet (options = {}) {
  const policy = options.contentSecurityPolicy
  if (!hasFunctions(policy)) return write('helmet', record(original(options)))

  return run('helmet', original.contentSecurityPolicy(policy),
    record(original({ ...options, contentSecurityPolicy: false })))
}

for (const [name, make] of Object.entries(original)) {
  if (name === 'default' || typeof make !== 'function') continue

  module.exports[name] = Object.assign(options => {
    const middleware = make(options)
    return hasFunctions(options) ? run(name, middleware, []) : write(name, record(middleware))
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
    setHeader (name, value) { steps.push([name, value]) },
    removeHeader (name) { steps.push([name]) }
  }
  middleware({}, res, rethrow)
  return steps
}

function write (name, steps) {
  return named(name, (ctx, next) => {
    apply(ctx, steps)
    return next()
  })
}

function run (name, policy, steps) {
  return named(name, (ctx, next) => {
    policy(ctx.req, ctx.res, rethrow)
    apply(ctx, steps)
    return next()
  })
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
