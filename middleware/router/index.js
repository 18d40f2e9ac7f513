'use strict'

const http = require('http')
const createError = require('../../lib/shared/http-errors')
const { isObject } = require('../../lib/shared/options')
const stateless = require('../_shared/stateless')
const { given, misuse } = require('../_shared/usage-error')
const Layer = require('./layer')
const OPTIONS = require('./options')
const { syntaxes } = require('./syntax')
const Trie = require('./trie')

const VERBS = http.METHODS.map(method => method.toLowerCase())
const DONE = Promise.resolve()

/**
 * Route by method and path, with the API and semantics of koa-router 13. Finding a route costs the
 * same for any number of routes.
 *
 *    const router = new Router({ prefix: '/users' })
 *    router.get('user', '/:id', ctx => { ctx.body = ctx.params.id })
 *    app.use(router.routes()).use(router.allowedMethods())
 *
 * @param {object} [opts] see options.js
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
class Router {
  constructor (opts) {
    this.opts = OPTIONS.check(opts)
    const { host, methods, exclusive } = this.opts

    this.methods = [...methods]
    this.exclusive = exclusive
    this.params = {}
    this.stack = []
    this.host = host
    this.trie = null
  }

  /**
   * Generate a URL from a path.
   *
   *    Router.url('/users/:id', { id: 1 }, { query: { page: 2 } }) // '/users/1?page=2'
   *
   * @param {string} path in the syntax of path-to-regexp 6.3
   * @param {...*} args the params, as an object or one by one, and options: see options.js
   * @return {string}
   * @throws {TypeError} for a param that is missing or names another host, and for a wrong option
   * @api public
   */
  static url (path, ...args) {
    return Layer.prototype.url.apply({ path, syntax: syntaxes[6] }, args)
  }

  /**
   * Middleware for all routes that follow, below a path, or another router's routes().
   *
   *    router.use(authorize)
   *    router.use(['/users', '/admin'], session)
   *    router.use('/forums/:id', posts.routes(), posts.allowedMethods())
   *
   * @param {...any} middleware functions; a path or paths may come first
   * @return {Router}
   * @throws {TypeError} for what is not a function, and for a router with the other syntax
   * @api public
   */
  use (...middleware) {
    if (Array.isArray(middleware[0]) && typeof middleware[0][0] === 'string') {
      const [paths, ...rest] = middleware
      for (const path of paths) this.use(path, ...rest)
      return this
    }

    const { syntax } = this.opts
    const hasPath = typeof middleware[0] === 'string' || (syntax === 8 && middleware[0] instanceof RegExp)
    const path = hasPath ? middleware.shift() : undefined
    for (const fn of middleware) {
      if (fn?.router) {
        if (isDevelopment()) warnOfNested(fn.router, this)
        this.nest(fn.router, path)
      } else {
        this.register(path || syntaxes[syntax].any, [], fn, {
          end: syntax === 8 && path === '/', // in this syntax '/' is only the root
          isAny: !hasPath
        })
      }
    }
    return this
  }

  /**
   * Copy the layers of another router, so that it can be nested again elsewhere.
   *
   * @api private
   */
  nest (router, path) {
    if (router.opts.syntax !== this.opts.syntax) {
      throw misuse('router', 'options.syntax of a nested router must be that of the router around it')
    }
    for (const layer of router.stack) {
      const copy = Object.assign(Object.create(Layer.prototype), layer)
      if (path) copy.setPrefix(path)
      if (this.opts.prefix) copy.setPrefix(this.opts.prefix)
      for (const param of Object.keys(this.params)) copy.param(param, this.params[param])
      this.stack.push(copy)
    }
  }

  /**
   * Put a prefix before the paths of this router, including registered ones.
   *
   * @param {string} prefix
   * @return {Router}
   * @throws {TypeError} if it is no string
   * @api public
   */
  prefix (prefix) {
    if (typeof prefix !== 'string') throw misuse('router.prefix()', `prefix must be a string, not ${given(prefix)}`)
    const before = this.opts.prefix
    this.opts.prefix = prefix.replace(/\/$/, '')
    if (this.opts.syntax === 8 && before) this.takeOff(before)
    for (const layer of this.stack) layer.setPrefix(this.opts.prefix)
    return this
  }

  /**
   * koa-router puts a second prefix before the first one, @koa/router from 14 on replaces the first one.
   *
   * @api private
   */
  takeOff (prefix) {
    for (const layer of this.stack) {
      const { path } = layer
      const begins = typeof path === 'string' && (path === prefix || path.startsWith(`${prefix}/`))
      if (begins) layer.path = path.slice(prefix.length) || (layer.opts.end === false ? '' : '/')
    }
  }

  /**
   * The middleware that runs the routes.
   *
   * @return {Function}
   * @api public
   */
  routes () {
    const router = this

    function dispatch (ctx, next) {
      if (router.host && !router.matchHost(ctx.host)) return next()

      const path = router.opts.routerPath || ctx.newRouterPath || ctx.path || ctx.routerPath || ''
      const matched = router.match(path, ctx.method)
      if (ctx.matched) ctx.matched.push(...matched.path)
      else ctx.matched = matched.path

      ctx.router = router
      if (router.opts.syntax === 8) ctx.routeMatched = matched.route
      if (!matched.route) return next()

      const layers = matched.pathAndMethod
      const last = layers[layers.length - 1]
      ctx._matchedRoute = last.path
      if (last.name) ctx._matchedRouteName = last.name
      return run(ctx, next, path, router.exclusive ? [last] : layers)
    }

    dispatch.router = this // public: koa-router's and openapi's way from the middleware to its router
    return dispatch
  }

  /**
   * The same, by koa-router's other name.
   *
   * @return {Function}
   * @api public
   */
  middleware () {
    return this.routes()
  }

  /**
   * Respond with `Allow` where no route has responded: to OPTIONS with 200, to other methods with 405
   * or 501.
   *
   *    app.use(router.allowedMethods({ throw: true }))
   *
   * @param {object} [options] see options.js
   * @return {Function} middleware
   * @api public
   */
  allowedMethods (options) {
    options = OPTIONS.allowedMethods.check(options)
    const implemented = this.methods

    return function allowedMethods (ctx, next) {
      return next().then(() => {
        if (!ctx.matched || (ctx.status && ctx.status !== 404)) return

        const allowed = [...new Set(ctx.matched.flatMap(layer => layer.methods))]
        if (!implemented.includes(ctx.method)) {
          refuse(ctx, 501, allowed, options, options.notImplemented)
        } else if (allowed.length > 0 && ctx.method === 'OPTIONS') {
          ctx.status = 200
          ctx.body = ''
          ctx.set('Allow', allowed.join(', '))
        } else if (allowed.length > 0 && !allowed.includes(ctx.method)) {
          refuse(ctx, 405, allowed, options, options.methodNotAllowed)
        }
      })
    }
  }

  /**
   * A route for every method.
   *
   * @param {...(string | RegExp | Array | Function)} args [name,] path, ...middleware
   * @return {Router}
   * @api public
   */
  all (...args) {
    return this.add('an all', VERBS, args)
  }

  /**
   * @param {string} what for the message
   * @param {string[]} methods
   * @param {Array} args [name,] path, [options,] ...middleware
   * @throws {Error} without a path
   * @api private
   */
  add (what, methods, args) {
    const isNamed = typeof args[1] === 'string' || args[1] instanceof RegExp
    const [name, path, ...middleware] = isNamed ? args : [null, ...args]
    const isPath = typeof path === 'string' || path instanceof RegExp ||
      (Array.isArray(path) && path.length > 0)
    if (!isPath) throw new Error(`You have to provide a path when adding ${what} handler`)

    const operation = isOperation(middleware[0]) ? OPTIONS.operation.check(middleware.shift()) : undefined
    if (isDevelopment()) warnOfRoute(what, path, middleware)
    this.register(path, methods, middleware, { name: name ?? operation?.name, operation })
    return this
  }

  /**
   * Redirect one path or named route to another, or to a URL.
   *
   *    router.redirect('/login', 'sign-in')
   *
   * @param {string | symbol} source
   * @param {string | symbol} destination
   * @param {number} [code=301]
   * @return {Router}
   * @throws {Error} for an unknown name
   * @api public
   */
  redirect (source, destination, code = 301) {
    const from = this.resolve(source, path => path[0] === '/')
    const to = this.resolve(destination, path => path[0] === '/' || path.includes('://'))
    return this.all(from, ctx => {
      ctx.redirect(to)
      ctx.status = code || 301
    })
  }

  /**
   * @api private
   */
  resolve (target, isPath) {
    if (typeof target === 'string' && isPath(target)) return target
    const url = this.url(target)
    if (url instanceof Error) throw url
    return url
  }

  /**
   * @param {string | RegExp | Array} path
   * @param {string[]} methods
   * @param {Function|Function[]} middleware
   * @param {object} [opts] see options.js
   * @return {Layer | Router} of a list of paths the router
   * @throws {TypeError} for an option that is misspelt or of the wrong type
   * @api public
   */
  register (path, methods, middleware, opts) {
    opts = OPTIONS.register.check(opts)
    if (Array.isArray(path)) {
      for (const one of path) this.register(one, methods, middleware, opts)
      return this
    }

    const layer = new Layer(path, methods, middleware, {
      end: opts.end,
      name: opts.name,
      operation: opts.operation,
      syntax: this.opts.syntax,
      sensitive: opts.sensitive || this.opts.sensitive || false,
      strict: opts.strict || this.opts.strict || false,
      prefix: opts.prefix || this.opts.prefix || '',
      ignoreCaptures: opts.ignoreCaptures,
      isAny: opts.isAny
    })
    if (this.opts.prefix) layer.setPrefix(this.opts.prefix)
    for (const param of Object.keys(this.params)) layer.param(param, this.params[param])
    this.stack.push(layer)
    return layer
  }

  /**
   * @param {string | symbol} name
   * @return {Layer | false} the first layer with this name
   * @api public
   */
  route (name) {
    return this.stack.find(layer => layer.name && layer.name === name) || false
  }

  /**
   * Generate the URL of a named route; for an unknown name it returns an Error and does not throw.
   *
   *    router.url('user', { id: 3 }, { query: { limit: 1 } }) // '/users/3?limit=1'
   *
   * @param {string | symbol} name
   * @param {...*} args the params, as an object or one by one, and options: see options.js
   * @return {string | Error}
   * @throws {TypeError} for an option that is misspelt or of the wrong type
   * @api public
   */
  url (name, ...args) {
    const layer = this.route(name)
    return layer ? layer.url(...args) : new Error(`No route found for name: ${String(name)}`)
  }

  /**
   * @param {string} path
   * @param {string} method
   * @return {{path: Layer[], pathAndMethod: Layer[], route: boolean}} layers that match the
   * path, layers that also match the method, and whether one of them is a route
   * @api private
   */
  match (path, method) {
    const { stack } = this
    if (this.trie === null || !this.trie.covers(stack)) this.trie = new Trie(stack)

    const matched = { path: [], pathAndMethod: [], route: false }
    for (const layer of this.trie.candidates(path)) {
      if (!layer.match(path)) continue
      matched.path.push(layer)
      const isRoute = layer.methods.length > 0
      if (isRoute && !layer.methods.includes(method)) continue
      matched.pathAndMethod.push(layer)
      if (isRoute) matched.route = true
    }
    return matched
  }

  /**
   * @api private
   */
  matchHost (input) {
    const { host } = this
    if (!host) return true
    if (!input) return false
    return Array.isArray(host) ? host.some(one => isHost(one, input)) : isHost(host, input)
  }

  /**
   * Run a function for a `:param`, before the middleware of every route that has it.
   *
   *    router.param('user', async (id, ctx, next) => { ctx.user = await find(id); return next() })
   *
   * @param {string} param
   * @param {Function} middleware (value, ctx, next)
   * @return {Router}
   * @api public
   */
  param (param, middleware) {
    this.params[param] = middleware
    for (const layer of this.stack) layer.param(param, middleware)
    return this
  }
}

for (const verb of VERBS) {
  Router.prototype[verb] = function (...args) {
    return this.add(`a ${verb}`, [verb], args)
  }
}

function isDevelopment () {
  return (process.env.NODE_ENV ?? 'development') === 'development'
}

/** As in koa-router, a router copies the layers of another one, and these know no options of a router. */
function warnOfNested (inner, outer) {
  const ignored = [
    inner.host && inner.host !== outer.host && 'host of a nested router has no effect: its routes respond to any host',
    inner.exclusive && !outer.exclusive && 'exclusive of a nested router has no effect: all of its routes that match run',
    inner.opts.routerPath && inner.opts.routerPath !== outer.opts.routerPath && 'routerPath of a nested router has no effect'
  ].find(Boolean)
  if (ignored) require('../../lib/shared/places').warnOnce(`options.${ignored}: write it to the router around it`)
}

function warnOfRoute (what, path, middleware) {
  const slashless = [path].flat().find(one => typeof one === 'string' && /^[\w-]/.test(one))
  const text = middleware.length === 0
    ? `${what} handler of ${path} is missing: the route responds with 404`
    : slashless && `the path '${slashless}' of a route begins without a slash, so no request has it`
  if (text) require('../../lib/shared/places').warnOnce(text)
}

function isHost (host, input) {
  return typeof host === 'string' ? input === host : stateless(host).test(input)
}

// @ts-expect-error -- defined for each verb above
Router.prototype.del = Router.prototype.delete

/** The promise of a guard, or the `{}` of a circular require(), describes nothing: a Layer refuses it as a function. */
function isOperation (value) {
  return isObject(value) && OPTIONS.operation.rule.namesIn(value).length > 0
}

function refuse (ctx, status, allowed, options, makeError) {
  const Allow = allowed.join(', ') // which a 405 must have (RFC 9110, 15.5.6)
  if (options.throw) throw typeof makeError === 'function' ? makeError() : createError(status, { headers: { Allow } })
  ctx.status = status
  ctx.set('Allow', Allow)
}

/**
 * The onion of one request: every layer's captures and params, then its middleware, then `next`.
 */
function run (ctx, next, path, layers) {
  let furthest = -1
  return dispatch(0, 0, 0)

  function dispatch (turn, at, i) {
    if (turn <= furthest) return Promise.reject(new Error('next() called multiple times'))
    furthest = turn
    try {
      let layer = layers[at]
      while (layer !== undefined) {
        if (i === 0) enter(ctx, layer, path)
        if (i < layer.stack.length) break
        layer = layers[++at]
        i = 0
      }
      const value = layer !== undefined
        ? layer.stack[i](ctx, () => dispatch(turn + 1, at, i + 1))
        : next ? next(ctx, () => DONE) : undefined
      return value === undefined ? DONE : Promise.resolve(value)
    } catch (err) {
      return Promise.reject(err)
    }
  }
}

function enter (ctx, layer, path) {
  ctx.captures = layer.captures(path)
  ctx.params = ctx.request.params = layer.params(path, ctx.captures, ctx.params)
  ctx.routerPath = layer.path
  ctx.routerName = layer.name
  ctx._matchedRoute = layer.path
  if (layer.name) ctx._matchedRouteName = layer.name
}

// callable without new, as the factories of the set are
module.exports = new Proxy(Router, { apply: (Router, self, args) => new Router(...args) })

// the name, for `import { url } from 'kone/middleware/router'`
0 && (exports.url = null)
