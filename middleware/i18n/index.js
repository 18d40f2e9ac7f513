'use strict'

const { given, misuse } = require('../_shared/usage-error')
const extend = require('./context')
const Locales = require('./locales')
const { readerOf } = require('./modes')
const OPTIONS = require('./options')

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
 * @param {object} options see options.js
 * @return {Function} middleware
 * @throws {Error} for a missing or invalid catalogue; the message has its path
 * @throws {TypeError} for an invalid option
 * @api public
 */
module.exports = function i18n (app, options) {
  if (!app?.context || !app.request) throw misuse('i18n', `the first argument must be an app, not ${given(app)}`)
  const settings = OPTIONS.check(options)
  const { modes: wanted, key } = settings
  const locales = new Locales(settings)
  const fields = []
  const modes = wanted.map(mode => {
    const { read, field } = readerOf(mode, locales)
    if (field !== undefined) fields.push(field)
    return { read, fields: fields.join(', ') } // of this mode and those before it
  })

  extend(app.context, app.request, key, locales)

  return function i18n (ctx, next) {
    const choosing = choose(ctx, modes, 0)
    return choosing === undefined ? next() : choosing.then(() => next())
  }
}

/** Evaluate the modes from `i` on, until one finds a locale. @return {Promise|undefined} undefined when it is done */
function choose (ctx, modes, i) {
  for (; i < modes.length; i++) {
    const { read, fields } = modes[i]
    const locale = read(ctx)
    if (typeof locale?.then === 'function') return chooseLater(ctx, modes, i, locale)
    if (locale !== undefined) return ctx.i18n.chosen(locale, fields)
  }
  ctx.i18n.chosen(undefined, modes.length === 0 ? '' : modes.at(-1).fields)
}

async function chooseLater (ctx, modes, i, promise) {
  const locale = await promise
  if (!locale) return choose(ctx, modes, i + 1)
  ctx.i18n.chosen(locale, modes[i].fields)
}
