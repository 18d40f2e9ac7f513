'use strict'

const cookieReader = require('../_shared/cookie')

/** What the request itself says: koa-locale's six, by the name of the mode. */
const READERS = {
  Query: (request, key) => {
    const value = request.query[key]
    return Array.isArray(value) ? value[0] : value
  },
  Subdomain: request => request.subdomains.at(-1),
  Cookie: (request, key) => cookieReader(key)(request.ctx),
  Header: (request, key, multi) => {
    const languages = request.acceptsLanguages().filter(language => language !== '*')
    return multi ? languages : languages[0]
  },
  Url: (request, key, { offset = 0 } = {}) => request.path.slice(1).split('/')[offset],
  TLD: request => request.hostname.split('.').at(-1)
}
const MODES = Object.keys(READERS)

function modeName (mode) {
  return MODES.find(name => name.toLowerCase() === String(mode).toLowerCase())
}

/**
 * The function that evaluates a mode.
 *
 * @param {string|Function} mode
 * @param {object} locales
 * @return {function(object): *} (ctx) => locale or a promise; undefined where the mode finds none
 */
function readerOf (mode, locales) {
  if (typeof mode === 'function') return ctx => mode.call(ctx, ctx) || undefined

  const name = modeName(mode)
  if (name === 'Header') return ctx => locales.accepted(ctx)
  const method = `getLocaleFrom${name}`
  return ctx => locales.find(ctx[method]())
}

module.exports = { MODES, READERS, modeName, readerOf }
