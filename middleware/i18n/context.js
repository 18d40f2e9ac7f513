'use strict'

const { MODES, READERS } = require('./modes')

/** Define koa-locale's methods, unless the app has its own, and koa-i18n's `i18n`. */
function extend (context, request, key, locales) {
  for (const name of MODES) {
    const method = `getLocaleFrom${name}`
    if (method in request) continue
    define(request, method, { value (option) { return READERS[name](this, key, option) } })
    define(context, method, { value (option) { return this.request[method](option) } })
  }
  define(context, 'i18n', {
    get () {
      if (this._i18n === undefined) this._i18n = new I18n(this, locales)
      return this._i18n
    }
  })
  define(context, 't', { get () { return this.i18n.helpers.__ } })
  define(request, 'i18n', { get () { return this.ctx.i18n } })
}

function define (object, name, descriptor) {
  Object.defineProperty(object, name, { ...descriptor, configurable: true })
}

/** `ctx.i18n`: the locale of one request. */
class I18n {
  constructor (ctx, locales) {
    this.request = ctx.request
    this.catalogues = locales
    this.isAnnounced = false // by Content-Language
    ctx.state.i18n = this
    this.speak(locales.default)
  }

  speak (locale) {
    this.locale = locale.name
    this.helpers = locale.helpers
    const { state } = this.request.ctx
    state.__ = locale.helpers.__
    state.__n = locale.helpers.__n
    state.getLocale = locale.helpers.getLocale
    state.isPreferredLocale = locale.helpers.isPreferredLocale
    if (this.isAnnounced) this.announce(locale)
  }

  /**
   * The modes have chosen.
   *
   * @param {string|undefined} name of the locale; undefined: the default one
   * @param {string} fields of the request that took part in the choice, `Cookie, Accept-Language`, or '': caches must
   *   know them, whatever was chosen
   */
  chosen (name, fields) {
    this.setLocale(name)
    if (fields === '') return
    const { ctx } = this.request
    if (ctx.response.get('Vary')) ctx.vary(fields)
    else ctx.set('Vary', fields) // a third of the cost
    this.isAnnounced = true
    this.announce(this.catalogues.byName.get(this.locale))
  }

  announce ({ tag }) {
    const { ctx } = this.request
    if (tag === undefined) ctx.remove('Content-Language')
    else ctx.set('Content-Language', tag)
  }

  get locales () { return this.catalogues.contents }
  get defaultLocale () { return this.catalogues.default.name }

  __ (...args) { return this.helpers.__(...args) }
  __n (...args) { return this.helpers.__n(...args) }
  getLocale () { return this.locale }
  isPreferredLocale () { return this.helpers.isPreferredLocale() }

  /** @return {string|undefined} the locale from now on: the default one for an unknown name */
  setLocale (name) {
    if (!name) return
    this.speak(this.catalogues.byName.get(name) ?? this.catalogues.default)
    return this.locale
  }
}

for (const name of MODES) {
  define(I18n.prototype, `setLocaleFrom${name}`, {
    value () {
      const { request, catalogues } = this
      const locale = catalogues.find(request[`getLocaleFrom${name}`]())
      if (locale !== undefined) this.setLocale(locale)
      return locale === undefined ? undefined : true
    }
  })
}

module.exports = extend
