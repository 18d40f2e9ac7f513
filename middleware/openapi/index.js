'use strict'

const { setImmediate } = require('../../lib/shared/timers')
const { given, misuse } = require('../_shared/usage-error')
const differenceOf = require('./difference')
const { describe, routersOf } = require('./document')
const OPTIONS = require('./options')
const page = require('./page')

/**
 * Serve an OpenAPI 3.1 document of the app: paths from its routers, schemas from `validate()`, the
 * rest from the routes' options.
 *
 *    app.use(router.routes())
 *    app.use(openapi(app, { info: { title: 'Shop', version: '1.0.0' }, page: '/docs' }))
 *
 * Faults of routes and schemas are reported when it is called, or at the end of that turn of the event
 * loop, for routes that follow.
 *
 * @param {any} app
 * @param {object} [options] see options.js
 * @return {Function} middleware; its `document()` returns the document
 * @throws {TypeError} for a wrong option, a page whose package is not installed, and a route or schema
 *   that cannot be described
 * @api public
 */
module.exports = function openapi (app, options) {
  if (!Array.isArray(app?.middleware)) throw misuse('openapi', `the first argument must be the app, not ${given(app)}`)
  const { path, page: at, ui, warnings, ...settings } = OPTIONS.check(options)
  const files = at === false ? new Map() : filesOf(at, ui, path)
  let latest // layers and their paths, what describe() returned, and the document's text
  const warned = new Set()

  function warn (text) {
    if (!warnings || text === undefined || warned.has(text)) return
    warned.add(text)
    process.emitWarning(text)
  }

  function current () {
    const layers = [...routersOf(app).flatMap(({ stack }) => stack), ...app.middleware]
    if (latest !== undefined && layers.length === latest.layers.length &&
      layers.every((layer, i) => layer === latest.layers[i] && layer.path === latest.paths[i])) return latest
    const found = describe(app, settings)
    found.warnings.forEach(warn)
    const paths = layers.map(layer => layer.path) // router.prefix() changes them
    latest = { ...found, layers, paths, text: JSON.stringify(found.document) }
    return latest
  }

  current()
  setImmediate(current)
  // Koa has no final()
  if (app.env === 'development') app.final?.(ctx => warn(differenceOf(ctx, current().described)))

  function openapi (ctx, next) {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    if (ctx.path === path) {
      ctx.type = 'json'
      ctx.body = current().text
      return
    }
    const file = files.get(ctx.path)
    if (file === undefined) return next()
    return file.read().then(bytes => {
      ctx.type = file.type
      ctx.body = bytes
    })
  }

  return Object.assign(openapi, { document: () => current().document })
}

function filesOf (at, ui, path) {
  const found = page.find(ui)
  if (found !== undefined) return page.filesOf(found, at, path)
  throw misuse('openapi', `options.page needs ${page.names.join(' or ')}, and neither is installed: npm install swagger-ui-dist`)
}
