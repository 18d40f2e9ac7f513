'use strict'

const path = require('path')
const nunjucks = require('nunjucks')
const { detach } = require('../../lib/shared/text')
const { manual } = require('../_shared/usage-error')
const Scope = require('./scope')
const Views = require('./views')

const MAX_KNOWN_VIEWS = 1000
const MAX_VIEW = 256 // characters; a client that chooses the view can spell it in endless ways

const NOTHING = new Scope()

/**
 * Renders the views of a directory.
 *
 *    rendererOf(root, { html: 'nunjucks' }, 'html', {})('user', { name: 'Ada' })   // '<p>Ada'
 *
 * @param {string} root absolute path
 * @param {Record<string, string>} engines extension → engine
 * @param {string} extension of a view that is named without one
 * @param {any} engineOptions koa-views' `options`
 * @return {Function} (view, data) => text, or a promise if the template uses an asynchronous filter or extension
 */
module.exports = function rendererOf (root, engines, extension, engineOptions) {
  const views = new Views(root)
  const env = environment(views, engineOptions)
  const isProduction = process.env.NODE_ENV === 'production' || engineOptions.cache
  const reloads = engineOptions.watch || engineOptions.noCache || !isProduction
  const known = new Map()

  function find (view) {
    let file = known.get(view)
    if (file !== undefined) return file

    file = views.find(view, extension)
    const type = path.extname(file).slice(1)
    if (!Object.hasOwn(engines, type)) throw new Error(`template: there is no engine for .${type} (${file}), name nunjucks for it in options.map (${manual('template')})`)
    if (!reloads && known.size < MAX_KNOWN_VIEWS && view.length <= MAX_VIEW) known.set(detach(view), file)
    return file
  }

  return function fill (view, data) {
    if (reloads && views.changed()) env.invalidateCache()
    const file = find(view)
    if (!isAsync(env)) return env.getTemplate(file).render(data, NOTHING)

    return new Promise((resolve, reject) => {
      env.render(file, data, (err, html) => err ? reject(err) : resolve(html))
    })
  }
}

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
