'use strict'

const querystring = require('querystring')
const { misuse } = require('../_shared/usage-error')
const OPTIONS = require('./options')
const { syntaxes, toRegexp } = require('./syntax')

// How a browser reads the beginning of a URL: without controls and blanks in front, tabs and line breaks within.
const OTHER_HOST = /^[\0-\x20]*[/\\][\t\n\r]*[/\\]/

/**
 * One registered path: its methods and middleware. Only the layer decides whether a path matches.
 *
 * @api private
 */
class Layer {
  // counts new layers and new paths, which make an existing index stale
  static edition = 0

  /**
   * @param {string | RegExp} path
   * @param {string[]} methods none: a layer of `use()`, for every method
   * @param {Function|Function[]} middleware
   * @param {object} [opts] name, syntax, isAny: of `use()` without a path; end, sensitive, strict for path-to-regexp
   */
  constructor (path, methods, middleware, opts = {}) {
    this.opts = opts
    this.name = opts.name || null
    this.operation = opts.operation
    this.methods = []
    this.stack = Array.isArray(middleware) ? middleware : [middleware]

    for (const name of methods) {
      const method = name.toUpperCase()
      this.methods.push(method)
      if (method === 'GET') this.methods.unshift('HEAD')
    }
    for (const fn of this.stack) {
      if (typeof fn === 'function') continue
      throw new TypeError(`${methods} \`${this.name || path}\`: ` +
        `\`middleware\` must be a function, not \`${typeof fn}\``)
    }

    this.setPath(path)
  }

  get syntax () {
    return syntaxes[this.opts.syntax ?? 6]
  }

  setPath (path) {
    const { regexp, keys } = toRegexp(path, this.opts)
    this.path = path
    this.regexp = regexp
    this.paramNames = keys
    this.hasCaptures = hasCaptures(path, keys, this.opts)
    Layer.edition++
  }

  match (path) {
    return this.regexp.test(path)
  }

  captures (path) {
    return this.hasCaptures ? path.match(this.regexp).slice(1) : []
  }

  params (path, captures, params = {}) {
    for (let i = 0; i < captures.length; i++) {
      const name = this.paramNames[i]
      if (name !== undefined && captures[i]) params[name.name] = decode(captures[i])
    }
    return params
  }

  url (params, ...rest) {
    let args = params
    let [options] = rest
    const path = this.path.replace(/\(\.\*\)/g, '')

    if (typeof params !== 'object') {
      args = [params, ...rest]
      options = typeof args.at(-1) === 'object' ? args.pop() : undefined
    }

    const names = this.syntax.names(path)
    let values = {}
    if (Array.isArray(args)) {
      names.forEach((name, i) => { values[name] = args[i] })
    } else if (names.length > 0) {
      values = params
      if (this.syntax === syntaxes[8] && !names.includes('query')) options ??= { query: params?.query } // as @koa/router 15
    } else if (!options) {
      options = params
    }

    const { query, ...known } = OPTIONS.url.check(options)
    const url = this.syntax.compile(path, values, known)
    if (OTHER_HOST.test(url) && !OTHER_HOST.test(this.path)) {
      throw misuse('router', `the URL of '${this.path}' with these params is '${url}', which names another host`)
    }
    return query ? withQuery(url, query) : url
  }

  /**
   * Run `fn` before the layer's middleware when the path has `:param`; several in the path's order.
   */
  param (param, fn) {
    const names = this.paramNames.map(({ name }) => name)
    const place = names.indexOf(param)
    if (place === -1) return this

    const middleware = function (ctx, next) {
      return fn.call(this, ctx.params[param], ctx, next)
    }
    middleware.param = param // public, as in koa-router

    const at = this.stack.findIndex((/** @type {any} */ fn) => !fn.param || names.indexOf(fn.param) > place)
    if (at !== -1) this.stack.splice(at, 0, middleware)
    return this
  }

  setPrefix (prefix) {
    const isOfAll = this.path === this.syntax.any && this.methods.length === 0
    if (!this.path && !isOfAll) return this
    if (this.opts.syntax === 8 && this.path instanceof RegExp) return this
    this.setPath(this.path === '/' && this.opts.strict !== true ? prefix : `${prefix}${this.path}`)
    return this
  }
}

/**
 * A path without params has no groups; a RegExp may have more than it has names. Of `use()` without a path the first
 * group without a name, 0, is no param: others are of a prefix, which is put before it at any time.
 */
function hasCaptures (path, keys, { ignoreCaptures, isAny }) {
  if (ignoreCaptures) return false
  return isAny ? keys.some(({ name }) => name !== 0) : keys.length > 0 || typeof path !== 'string'
}

function withQuery (url, query) {
  const [, path, hash = ''] = /^([^?#]*)(?:\?[^#]*)?(#.*)?$/.exec(url)
  const text = typeof query === 'string' ? query.replace(/^\?/, '') : querystring.stringify(query)
  return path + (text && '?' + text.replaceAll('#', '%23')) + hash
}

function decode (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

module.exports = Layer
