'use strict'

const fs = require('fs')
const path = require('path')
const nunjucks = require('nunjucks')
const { detach } = require('../../lib/shared/text')
const { WHEN_PRINTED } = require('../_shared/context')
const { given, manual, misuse } = require('../_shared/usage-error')
const { Options } = require('../../lib/shared/options')
const OPTIONS = require('./options')

// extensions that need no entry in `map`
const EXTENSIONS = ['html', 'htm', 'njk', 'nunj', 'nunjucks', 'xml', 'txt']

// the names of koa-views' `options` that configure the engine; other names are variables of every template
const FOR_ENGINE = new Set([
  'nunjucksEnv', 'nunjucks', 'settings', 'loader', 'filters', 'globals', 'tests', 'extensions',
  'autoescape', 'throwOnUndefined', 'trimBlocks', 'lstripBlocks', 'tags', 'dev', 'noCache',
  'watch', 'cache', 'partials', 'helpers'
])
const NONE = new Options('template', {})
const MAX_KNOWN_VIEWS = 1000
const MAX_VIEW = 256 // characters; a client that chooses the view can spell it in endless ways

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
  const fill = renderer(directory(root), enginesOf(extension, map), extension, engineOptions)
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

/** At once, not with the first request. */
function checkCompiles () {
  try {
    return new nunjucks.Template('', new nunjucks.Environment([]), '', true)
  } catch (err) {
    throw new Error('template: nunjucks makes a function of each template, and node was started with ' +
      `--disallow-code-generation-from-strings (${manual('template')})`, { cause: err })
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

/** (view, data) => text, or a promise if the template uses an asynchronous filter or extension. */
function renderer (root, engines, extension, engineOptions) {
  const views = new Views(root)
  const env = environment(views, engineOptions)
  const production = process.env.NODE_ENV === 'production' || engineOptions.cache
  const reload = engineOptions.watch || engineOptions.noCache || !production
  const known = new Map()

  function find (view) {
    let file = known.get(view)
    if (file !== undefined) return file

    file = views.find(view, extension)
    const type = path.extname(file).slice(1)
    if (!Object.hasOwn(engines, type)) throw new Error(`template: there is no engine for .${type} (${file}), name nunjucks for it in options.map (${manual('template')})`)
    if (!reload && known.size < MAX_KNOWN_VIEWS && view.length <= MAX_VIEW) known.set(detach(view), file)
    return file
  }

  return function fill (view, data) {
    if (reload && views.changed()) env.invalidateCache()
    const file = find(view)
    if (!isAsync(env)) return env.getTemplate(file).render(data, NOTHING)

    return new Promise((resolve, reject) => {
      env.render(file, data, (err, html) => err ? reject(err) : resolve(html))
    })
  }
}

/**
 * A scope of variables, in place of nunjucks' Frame. In each turn of a loop, Frame splits `loop.index` and
 * six other names at their dot, and it keeps variables in a dictionary, which V8 does not optimise: without
 * this class a page with a short list costs much more.
 */
class Scope extends nunjucks.runtime.Frame {
  constructor (parent, isolateWrites) {
    super(parent, isolateWrites)
    this.variables = new Variables()
  }

  push (isolateWrites) {
    return new Scope(this, isolateWrites)
  }

  set (name, value, resolveUp) {
    if (resolveUp) return super.set(name, value, true)
    switch (name) {
      case 'loop.index': this.loop().index = value; return
      case 'loop.index0': this.loop().index0 = value; return
      case 'loop.revindex': this.loop().revindex = value; return
      case 'loop.revindex0': this.loop().revindex0 = value; return
      case 'loop.first': this.loop().first = value; return
      case 'loop.last': this.loop().last = value; return
      case 'loop.length': this.loop().length = value; return
    }
    if (name.includes('.')) super.set(name, value)
    else this.variables[name] = value
  }

  loop () {
    this.variables.loop ||= { ...LOOP }
    return this.variables.loop
  }
}

// an object with space for all seven names, so that V8 does not move them
const LOOP = {
  index: 0, index0: 0, revindex: 0, revindex0: 0, first: false, last: false, length: 0
}

/** An object that inherits nothing, so that a variable may be called `constructor`. */
function Variables () {}
Variables.prototype = Object.create(null)

const NOTHING = new Scope()

function isAsync ({ asyncFilters, extensionsList, loaders }) {
  return asyncFilters.length > 0 || extensionsList.length > 0 || loaders.some(one => one.async)
}

/** The settings of nunjucks that koa-views passes on. */
function environment (views, engineOptions) {
  const [paths, settings = paths] = engineOptions.nunjucks?.configure ?? []
  const given = engineOptions.nunjucksEnv
  const env = given ?? new nunjucks.Environment([
    views,
    ...[engineOptions.loader].filter(Boolean),
    ...[engineOptions.nunjucks?.loader, engineOptions.settings?.views, paths].filter(isPaths).map(fileLoader)
  ], { ...(isPaths(settings) ? {} : settings), ...engineOptions })

  if (given) {
    views.cache = {}
    given.loaders.push(views)
  }
  for (const [name, fn] of Object.entries(engineOptions.filters ?? {})) env.addFilter(name, fn)
  for (const [name, fn] of Object.entries(engineOptions.tests ?? {})) env.addTest(name, fn)
  for (const [name, value] of Object.entries(engineOptions.globals ?? {})) env.addGlobal(name, value)
  for (const [name, one] of Object.entries(engineOptions.extensions ?? {})) env.addExtension(name, one)
  return env
}

function isPaths (value) {
  return typeof value === 'string' || Array.isArray(value)
}

/** 'path' or, as koa-views had it, ['path', options]. */
function fileLoader (paths) {
  const [search, options] = Array.isArray(paths) && typeof paths[1] === 'object' ? paths : [paths]
  return new nunjucks.FileSystemLoader(search, options)
}

/** Loads files of one directory. FileSystemLoader also loads those of a directory `<root>-other` beside it. */
class Views extends nunjucks.Loader {
  constructor (root) {
    super()
    this.root = root
    this.inside = root.endsWith(path.sep) ? root : root + path.sep
    this.stamps = new Map()
  }

  /**
   * `user` is the file user, or user/index.html, or user.html.
   *
   * @return {string} absolute path
   */
  find (view, extension) {
    for (const name of [view, path.join(view, `index.${extension}`), `${view}.${extension}`]) {
      const file = path.resolve(this.root, name)
      if (!file.startsWith(this.inside)) continue
      if (fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return file
    }
    throw new Error(`template: there is no view ${view} in ${this.root} (${manual('template')})`)
  }

  getSource (name) {
    const file = path.resolve(this.root, name)
    if (!file.startsWith(this.inside)) return null
    const stamp = stampOf(file)
    if (stamp === undefined) return null

    this.stamps.set(file, stamp)
    return { src: fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), path: file, noCache: false }
  }

  /** Has a file changed since it was read? */
  changed () {
    for (const [file, stamp] of this.stamps) {
      if (stampOf(file) === stamp) continue
      this.stamps.clear()
      return true
    }
    return false
  }
}

function stampOf (file) {
  const stats = fs.statSync(file, { throwIfNoEntry: false })
  if (stats?.isFile()) return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`
}
