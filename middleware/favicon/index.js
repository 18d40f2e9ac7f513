'use strict'

const fs = require('node:fs')
const { resolve } = require('node:path')
const entityTag = require('../_shared/entity-tag')

const ONE_DAY = 24 * 3600 * 1000 // ms
const ONE_YEAR = 31_556_926_000

/**
 * Answer `/favicon.ico` from memory.
 *
 *    app.use(favicon(path.join(__dirname, 'favicon.ico')))
 *
 * @param {String} [path] read once, now; without it `/favicon.ico` is a 404, whatever comes next
 * @param {{ maxAge?: Number, mime?: String }} [options] maxAge of the client's copy in ms, a day
 *   when left out and at most a year; mime: `image/x-icon`
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type
 * @throws {Error} if the file cannot be read
 * @api public
 */
module.exports = function favicon (path, options) {
  const { maxAge, mime } = check(path, options)
  const icon = path ? read(path) : undefined
  const tag = icon && entityTag(icon)
  const cacheControl = `public, max-age=${Math.floor(maxAge / 1000)}`

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

function check (path, options) {
  const { maxAge, mime } = options || {}
  if (path && typeof path !== 'string') throw new TypeError('favicon: path must be a string')
  if (maxAge != null && !(typeof maxAge === 'number' && maxAge >= 0)) {
    throw new TypeError('favicon: options.maxAge must be a number of milliseconds')
  }
  if (mime && typeof mime !== 'string') {
    throw new TypeError('favicon: options.mime must be a string')
  }
  return { maxAge: Math.min(maxAge ?? ONE_DAY, ONE_YEAR), mime: mime || 'image/x-icon' }
}

function read (path) {
  const file = resolve(path)
  try {
    return fs.readFileSync(file)
  } catch (cause) {
    throw new Error(`favicon: cannot read ${file}: ${cause.message}`, { cause })
  }
}
