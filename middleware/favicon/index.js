'use strict'

const fs = require('fs')
const { resolve } = require('path')
const entityTag = require('../_shared/entity-tag')
const { given, manual, misuse } = require('../_shared/usage-error')
const OPTIONS = require('./options')

const ONE_YEAR = 31_556_926_000 // ms

/**
 * Respond to `/favicon.ico` from memory.
 *
 *    app.use(favicon(path.join(__dirname, 'favicon.ico')))
 *
 * @param {string} [path] file, read once at registration; without it `/favicon.ico` is a 404
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type
 * @throws {Error} if the file cannot be read
 * @api public
 */
module.exports = function favicon (path, options) {
  if (path && typeof path !== 'string') throw misuse('favicon', `path must be a string, not ${given(path)}`)
  const { maxAge, mime } = OPTIONS.check(options)
  const icon = path ? read(path) : undefined
  const tag = icon && entityTag(icon)
  const cacheControl = `public, max-age=${Math.floor(Math.min(maxAge, ONE_YEAR) / 1000)}`

  return function favicon (ctx, next) {
    if (ctx.path !== '/favicon.ico') return next()
    if (icon === undefined) return

    const { method } = ctx
    if (method !== 'GET' && method !== 'HEAD') {
      ctx.status = method === 'OPTIONS' ? 200 : 405
      ctx.set('Allow', 'GET, HEAD, OPTIONS')
      return
    }
    ctx.status = 200
    ctx.set('Cache-Control', cacheControl)
    ctx.set('ETag', tag)
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.type = mime
    ctx.body = icon
  }
}

function read (path) {
  const file = resolve(path)
  try {
    return fs.readFileSync(file)
  } catch (cause) {
    throw new Error(`favicon: cannot read ${file}: ${cause.message} (${manual('favicon')})`, { cause })
  }
}
