'use strict'

const fs = require('fs')
const path = require('path')
const nunjucks = require('nunjucks')
const { WHEN_PRINTED } = require('../_shared/context')
const { given, manual, misuse } = require('../_shared/usage-error')
const { Options } = require('../../lib/shared/options')
const OPTIONS = require('./options')
const rendererOf = require('./renderer')

// extensions that need no entry in `map`
const EXTENSIONS = ['html', 'htm', 'njk', 'nunj', 'nunjucks', 'xml', 'txt']

// the names of koa-views' `options` that configure the engine; other names are variables of every template
const FOR_ENGINE = new Set([
  'nunjucksEnv', 'nunjucks', 'settings', 'loader', 'filters', 'globals', 'tests', 'extensions',
  'autoescape', 'throwOnUndefined', 'trimBlocks', 'lstripBlocks', 'tags', 'dev', 'noCache',
  'watch', 'cache', 'partials', 'helpers'
])
const NONE = new Options('template', {})

/**
 * Add `ctx.render(view, locals)`, which renders a nunjucks template. Each template is compiled once, and
 * printed values are escaped.
 *
 *    app.use(template(path.join(__dirname, 'views'), { options: { filters: { shout } } }))
 *    app.use(ctx => ctx.render('user', { name: 'Ada' }))
 *
 * A template sees the variables of `options`, then `ctx.state`, then `locals`. All of these are
 * data: none configures the engine. Without a context, as in koa-views, the middleware returns a
 * method for an app's context: `app.context.render = template(root)()`.
 *
 * Outside of production, and with `options.options.watch`, a changed file is compiled again.
 *
 * @param {string} root the directory of the templates
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {Error} when `root` is not a directory
 * @throws {TypeError} for another engine or an option of the wrong type
 * @api public
 */
module.exports = function template (root, options) {
  const { autoRender, extension, map, options: engineOptions = {} } = OPTIONS.check(options)
  checkCompiles()
  const fill = rendererOf(directory(root), enginesOf(extension, map), extension, engineOptions)
  const variables = Object.fromEntries(
    Object.entries(engineOptions).filter(([name]) => !FOR_ENGINE.has(name)))

  function render (ctx, view, locals) {
    ctx.type = 'text/html'
    try {
      const html = fill(view, dataOf(variables, ctx.state, locals))
      if (typeof html === 'string') return Promise.resolve(finish(ctx, html))
      ctx._rendering = Rendering.resolve(html.then(html => finish(ctx, html)))
    } catch (err) {
      ctx._rendering = Rendering.reject(err)
    }
    return ctx._rendering
  }

  function finish (ctx, html) {
    if (autoRender) ctx.body = html
    return html
  }

  function renderHere (view, locals) {
    return render(this.ctx ?? this, view, locals)
  }

  return function template (ctx, next) {
    if (ctx === undefined) return renderHere
    if (!ctx.render) {
      ctx.response.render = ctx.render = (view, locals) => render(ctx, view, locals)
    }
    return next()
  }
}

/**
 * For `app.final`: waits for a `ctx.render()` that the handler did not await, and throws its error.
 *
 *    app.use(template(root))
 *    app.final(template.final())
 *    app.use(ctx => { ctx.render('user') })
 *
 * @return {Function} (ctx) => Promise | undefined
 * @throws {TypeError} for any option
 * @api public
 */
module.exports.final = function final (options) {
  NONE.check(options)

  return function template (ctx) {
    const { _rendering } = ctx
    if (ctx.body == null) return _rendering?.isAwaited ? _rendering.catch(() => {}) : _rendering
  }
}

// the global one may be bluebird's, which makes no objects of a subclass
const NativePromise = /** @type {PromiseConstructor} */ ((async () => {})().constructor)

/** Knows whether the handler waits for it: then its error is the handler's, which may have caught it. */
class Rendering extends NativePromise {
  then (...args) {
    this.isAwaited = true
    return super.then(...args)
  }
}

/** The variables of a template. */
function dataOf (variables, state, locals) {
  const data = { ...variables }
  for (const key of Object.keys(state)) {
    const { get } = Object.getOwnPropertyDescriptor(state, key)
    data[key] = get?.[WHEN_PRINTED] ? new Late(state, key) : state[key]
  }
  return Object.assign(data, locals)
}

/** A text that is made when it is printed, as csrf's token. A String, because that is what filters look for. */
class Late extends String {
  #state
  #key

  constructor (state, key) {
    super()
    this.#state = state
    this.#key = key
    // not a method: V8 of Node 22 asks only a String's own one, so that '' + this would be ''
    Object.defineProperty(this, 'valueOf', { value: this.toString })
  }

  toString () { return String(this.#state[this.#key]) }
  toJSON () { return this.toString() }
}

function directory (root) {
  if (typeof root !== 'string' || root === '') {
    throw misuse('template', `root must be the path of a directory, not ${given(root)}`)
  }
  const resolved = path.resolve(root)
  if (fs.statSync(resolved, { throwIfNoEntry: false })?.isDirectory()) return resolved
  throw new Error(`template: ${resolved} is not a directory (${manual('template')})`)
}

function enginesOf (extension, map) {
  const engines = { [extension]: extension }
  for (const name of EXTENSIONS) engines[name] = 'nunjucks'
  Object.assign(engines, map)

  for (const [name, engine] of Object.entries(engines)) {
    if (engine === 'nunjucks') continue
    throw misuse('template', `.${name} is for the engine ${engine}, and nunjucks is the only ` +
      'one: name it in options.map, or use koa-views')
  }
  return engines
}

/** At once, not with the first request. */
function checkCompiles () {
  try {
    return new nunjucks.Template('', new nunjucks.Environment([]), '', true)
  } catch (err) {
    throw new Error('template: nunjucks makes a function of each template, and node was started with ' +
      `--disallow-code-generation-from-strings (${manual('template')})`, { cause: err })
  }
}
