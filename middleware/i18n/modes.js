'use strict'

const { MISSPELT, Options, integer, shape } = require('../../lib/shared/options')
const cookieReader = require('../_shared/cookie')

// koa-locale ignores other names.
const OF_URL = new Options('ctx.getLocaleFromUrl()', shape({
  offset: integer({ min: 0 }).says('which segment of the path', { default: 0 })
}, { open: MISSPELT }), 'middleware/i18n/README')

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
  Url: (request, key, options) => request.path.slice(1).split('/')[OF_URL.check(options).offset],
  TLD: request => request.hostname.split('.').at(-1)
}
const MODES = Object.keys(READERS)

/** The header field that a mode reads. A cache keeps a response for each of its values. */
const FIELDS = { Cookie: 'Cookie', Header: 'Accept-Language' }

function modeName (mode) {
  return MODES.find(name => name.toLowerCase() === String(mode).toLowerCase())
}

/**
 * What evaluates a mode.
 *
 * @param {string|Function} mode
 * @param {object} locales
 * @return {{ read: Function, field?: string }} (ctx) => locale or a promise; undefined where the mode finds none
 */
function readerOf (mode, locales) {
  if (typeof mode === 'function') return { read: ctx => mode.call(ctx, ctx) || undefined }

  const name = modeName(mode)
  const field = FIELDS[name]
  if (name === 'Header') return { read: ctx => locales.accepted(ctx), field }
  const method = `getLocaleFrom${name}`
  return { read: ctx => locales.find(ctx[method]()), field }
}

module.exports = { MODES, READERS, modeName, readerOf }
