'use strict'

const { given, misuse } = require('../_shared/usage-error')
const { Rule, any, check, each, fn, list, off, refused, text } = require('../_shared/options')
const extend = require('./context')
const Locales = require('./locales')
const { MODES, modeName, readerOf } = require('./modes')

const mode = new Rule('a mode', value => typeof value === 'function' || modeName(value) !== undefined)
const OPTIONS = {
  locales: any, // `read` says more
  directory: text,
  extension: text,
  parse: fn,
  modes: list(mode, `functions and of ${MODES.join(', ').toLowerCase()}`),
  defaultLocale: text,
  fallback: text.or(off),
  key: text,
  ...each(refused('catalogues are read once and never written'), 'devMode', 'indent', 'dump'), // of i18n-2
  register: refused('the helpers are in ctx.state'),
  cookieName: refused('name the cookie by `key`')
}

/**
 * Texts in the language of the client: `ctx.i18n`, `ctx.t`, and the helpers in `ctx.state`.
 *
 *    app.use(i18n(app, {
 *      directory: './config/locales',
 *      locales: ['zh-CN', 'en'],           // the first is the default; ./config/locales/en.js
 *      modes: ['query', 'cookie', 'header', ctx => ctx.state.user?.language]
 *    }))
 *    app.use(ctx => { ctx.body = ctx.t('Hello %s', 'Ada') })
 *
 * The catalogues are read once, at registration, and never written. Where the modes `cookie` and `header` take part in
 * the choice, the response has `Vary` and `Content-Language`.
 *
 * @param {object} app
 * @param {object} options
 * @param {string[]|object} options.locales names of catalogues, or the catalogues by name
 * @param {string} [options.directory='./locales']
 * @param {string} [options.extension] of the files; when left out, .js (JSON text) or .json
 * @param {Function} [options.parse=JSON.parse] text of a file to catalogue
 * @param {Array<string|Function>} [options.modes=[]] where to look for the locale; the first
 *   that finds one wins: 'query', 'subdomain', 'cookie', 'header', 'url', 'tld', (ctx) => locale or a promise
 * @param {string} [options.defaultLocale] default: the first of `locales`
 * @param {string|false} [options.fallback] the locale whose texts replace missing ones; default:
 *   the default locale
 * @param {string} [options.key='locale'] name of the query's field and of the cookie
 * @return {Function} middleware
 * @throws {Error} for a missing or invalid catalogue; the message has its path
 * @throws {TypeError} for an invalid option
 * @api public
 */
module.exports = function i18n (app, options) {
  if (!app?.context || !app.request) throw misuse('i18n', `the first argument must be an app, not ${given(app)}`)
  options = check('i18n', options, OPTIONS)
  const { modes: wanted = [], key = 'locale' } = options
  const locales = new Locales(options)
  const fields = []
  const modes = wanted.map(mode => {
    const { read, field } = readerOf(mode, locales)
    if (field !== undefined) fields.push(field)
    return { read, fields: fields.join(', ') } // of this mode and those before it
  })

  extend(app.context, app.request, key, locales)

  return function i18n (ctx, next) {
    const asking = speak(ctx, modes, 0)
    return asking === undefined ? next() : asking.then(() => next())
  }
}

/** Evaluate one mode after the other, from `i` on. @return {Promise|undefined} undefined when it is done */
function speak (ctx, modes, i) {
  for (; i < modes.length; i++) {
    const { read, fields } = modes[i]
    const locale = read(ctx)
    if (typeof locale?.then === 'function') return speakLater(ctx, modes, i, locale)
    if (locale !== undefined) return ctx.i18n.chosen(locale, fields)
  }
  ctx.i18n.chosen(undefined, modes.length === 0 ? '' : modes.at(-1).fields)
}

async function speakLater (ctx, modes, i, promise) {
  const locale = await promise
  if (!locale) return speak(ctx, modes, i + 1)
  ctx.i18n.chosen(locale, modes[i].fields)
}
