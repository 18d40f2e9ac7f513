'use strict'

const fs = require('node:fs')
const path = require('node:path')
const i18next = require('i18next')
const cookieReader = require('./shared/cookie')

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other']
const MAX_KNOWN_HEADERS = 1000
const MAX_HEADER = 256 // characters; a longer one is looked at, not remembered
// i18next looks for `{{…}}` in a key that no catalogue has, with an expression that is quadratic in `{`
const MAX_UNKNOWN_KEY = 1000

/**
 * Speak the language of the client: `ctx.i18n`, `ctx.t`, and the helpers in `ctx.state`.
 *
 *    app.use(i18n(app, {
 *      directory: './config/locales',
 *      locales: ['zh-CN', 'en'],           // the first is the default; ./config/locales/en.js
 *      modes: ['query', 'cookie', 'header', ctx => ctx.state.user?.language]
 *    }))
 *    app.use(ctx => { ctx.body = ctx.t('Hello %s', 'Ada') })
 *
 * The catalogues are read once, at registration, and never written.
 *
 * @param {object} app
 * @param {object} options
 * @param {string[]|object} options.locales names of catalogues, or the catalogues by name
 * @param {string} [options.directory='./locales']
 * @param {string} [options.extension] of the files; when left out, .js (JSON text) or .json
 * @param {Function} [options.parse=JSON.parse] text of a file to catalogue
 * @param {Array<string|Function>} [options.modes=[]] what is asked for the locale, first answer
 *   wins: 'query', 'subdomain', 'cookie', 'header', 'url', 'tld', (ctx) => locale
 * @param {string} [options.defaultLocale] default: the first of `locales`
 * @param {string|false} [options.fallback] the locale that lends what another lacks, default: the
 *   default locale
 * @param {string} [options.key='locale'] name of the query's field and of the cookie
 * @return {Function} middleware
 * @throws {Error} for a catalogue that is missing or no catalogue, with its path
 * @throws {TypeError} for an option that cannot work
 * @api public
 */
module.exports = function (app, options) {
  if (!app?.context || !app.request) throw new TypeError('i18n: the first argument must be an app')
  const locales = new Locales(options)
  const modes = (options.modes ?? []).map(mode => readerOf(mode, locales))

  extend(app.context, app.request, options.key ?? 'locale', locales)

  return function i18n (ctx, next) {
    for (let i = 0; i < modes.length; i++) {
      const locale = modes[i](ctx)
      if (locale !== undefined) {
        ctx.i18n.setLocale(locale)
        return next()
      }
    }
    ctx.i18n // eslint-disable-line no-unused-expressions -- the getter fills ctx.state
    return next()
  }
}

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

function readerOf (mode, locales) {
  if (typeof mode === 'function') return ctx => mode.call(ctx, ctx) || undefined

  const name = MODES.find(name => name.toLowerCase() === String(mode).toLowerCase())
  if (name === undefined) {
    throw new TypeError(`i18n: options.modes must be functions or of ${MODES.join(', ')}: ${mode}`)
  }
  if (name === 'Header') return ctx => locales.accepted(ctx)
  const method = `getLocaleFrom${name}`
  return ctx => locales.find(ctx[method]())
}

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

/** The catalogues of an app, ready to be looked up. */
class Locales {
  constructor (options) {
    this.contents = read(options)
    const names = Object.keys(this.contents)
    const { defaultLocale = names[0] } = options
    const { fallback = defaultLocale } = options
    for (const name of [defaultLocale, fallback || defaultLocale]) {
      if (names.includes(name)) continue
      throw new TypeError(`i18n: there is no catalogue of the locale ${name}, only ${names}`)
    }

    const engine = engineOf(this.contents, fallback)
    this.byName = new Map(names.map(name => {
      const messages = new Map()
      for (const lender of [fallback, parentOf(name), name]) {
        if (Object.hasOwn(this.contents, lender)) flatten(this.contents[lender], '', messages)
      }
      return [name, { name, helpers: helpersOf(name, messages, engine) }]
    }))
    this.default = this.byName.get(defaultLocale)
    this.byLowerCase = new Map(names.map(name => [name.toLowerCase(), name]))
    this.knownHeaders = new Map()
  }

  /** @return {string|undefined} the name as the catalogues spell it */
  find (name) {
    if (name) return this.byLowerCase.get(name.toLowerCase())
  }

  /** The first language in the client's order of preference that is spoken here: en for en-GB. */
  accepted (ctx) {
    const header = ctx.get('Accept-Language')
    if (header === '' || this.knownHeaders.has(header)) return this.knownHeaders.get(header)

    let found
    for (const language of ctx.request.getLocaleFromHeader(true)) {
      found = this.find(language) ?? this.find(parentOf(language))
      if (found !== undefined) break
    }
    if (header.length <= MAX_HEADER) {
      if (this.knownHeaders.size === MAX_KNOWN_HEADERS) this.knownHeaders.clear()
      this.knownHeaders.set(header, found)
    }
    return found
  }
}

function parentOf (name) {
  return name.slice(0, name.indexOf('-') + 1).slice(0, -1)
}

function read ({ locales, directory = './locales', extension, parse = JSON.parse } = {}) {
  if (typeof parse !== 'function') throw new TypeError('i18n: options.parse must be a function')
  if (Array.isArray(locales) && locales.length > 0) {
    const extensions = extension === undefined ? ['.js', '.json'] : [extension]
    return Object.fromEntries(locales.map(name => {
      return [name, readFile(path.resolve(directory), name, extensions, parse)]
    }))
  }
  if (isObject(locales) && Object.values(locales).every(isObject)) return locales
  throw new TypeError('i18n: options.locales must be an array of names or catalogues by name')
}

function readFile (directory, name, extensions, parse) {
  const files = extensions.map(extension => path.join(directory, name + extension))
  const file = files.find(fs.existsSync)
  if (file === undefined) throw new Error(`i18n: there is no catalogue ${files.join(' or ')}`)
  try {
    const catalogue = parse(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
    if (isObject(catalogue)) return catalogue
  } catch (cause) {
    throw new Error(`i18n: ${file} cannot be read: ${cause.message}`, { cause })
  }
  throw new Error(`i18n: ${file} is not a catalogue`)
}

function isObject (value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** `{ a: { b: 'x' } }` is found by the keys `a` and `a.b`; a key spelled so itself wins. */
function flatten (catalogue, prefix, messages) {
  for (const [key, value] of Object.entries(catalogue)) {
    if (value !== null && typeof value === 'object') flatten(value, `${prefix}${key}.`, messages)
  }
  for (const [key, value] of Object.entries(catalogue)) messages.set(prefix + key, value)
}

/** i18next, for `__(key, { count, name, … })`. */
function engineOf (contents, fallback) {
  const engine = i18next.createInstance()
  engine.init({
    initAsync: false,
    showSupportNotice: false,
    fallbackLng: false,
    nsSeparator: false,
    returnObjects: true,
    interpolation: { escapeValue: false }, // templates escape, and nothing else does for %s
    resources: {}
  })
  const { languageUtils } = engine.services
  const codes = new Map()
  for (const [name, catalogue] of Object.entries(contents)) {
    codes.set(name, languageUtils.formatLanguageCode(name))
    engine.addResourceBundle(codes.get(name), 'translation', withPlurals(catalogue))
  }
  engine.options.fallbackLng = fallback ? [codes.get(fallback)] : false
  return (locale, key, options, isKnown) => engine.t(key, {
    ...options,
    lng: codes.get(locale),
    nest: isKnown // a key from outside must not name another one by $t()
  })
}

/** i18next keeps the forms of `{ cat: { one, other } }` as cat_one and cat_other. */
function withPlurals (catalogue) {
  const copy = { ...catalogue }
  for (const [key, value] of Object.entries(catalogue)) {
    if (!isObject(value)) continue
    copy[key] = withPlurals(value)
    if (!isPlural(value)) continue
    for (const form of Object.keys(value)) copy[`${key}_${form}`] = value[form]
  }
  return copy
}

function isPlural (value) {
  return isObject(value) && 'other' in value && Object.keys(value).every(key => PLURALS.includes(key))
}

function helpersOf (name, messages, engine) {
  const rules = pluralRules(name)

  function __ (key, ...args) {
    const message = messages.get(key)
    if (args.length === 0) return message ?? key
    if (args.length === 1 && isObject(args[0])) {
      if (message === undefined && key?.length > MAX_UNKNOWN_KEY) return key
      const text = engine(name, key, args[0], message !== undefined)
      return sprintf(text, args[0].count === undefined ? args : [args[0].count])
    }
    return sprintf(message ?? key, args)
  }

  // (key, count, ...args) or, where the catalogue has no such key, (one, other, count, ...args)
  function __n (key, other, count, ...args) {
    if (typeof other === 'number') {
      return sprintf(formOf(messages.get(key) ?? key, other), [other, count, ...args])
    }
    const message = messages.get(key) ?? { one: key, other }
    const text = sprintf(formOf(message, count), [count])
    return args.length === 0 ? text : sprintf(text, args)
  }

  /** Of `{ one, other }` as i18n-2 takes it, of all six by the rules of the language. */
  function formOf (message, count) {
    if (!isObject(message)) return message
    const simple = parseInt(count, 10) > 1 ? 'other' : 'one'
    const isSimple = Object.keys(message).every(form => form === 'one' || form === 'other')
    return message[isSimple ? simple : rules.select(Number(count))] ?? message.other
  }

  return {
    __,
    __n,
    getLocale: () => name,
    isPreferredLocale: () => true // koa-i18n's never asks either: it has no preference to compare
  }
}

function pluralRules (name) {
  try {
    return new Intl.PluralRules(name)
  } catch {
    return new Intl.PluralRules('en')
  }
}

/**
 * The part of sprintf that catalogues use: %s %d %i %f %j %%, %2$s, %(name)s and %.2f. What is
 * none of it stays as it is, so "100 % sure" is text.
 */
function sprintf (format, args) {
  if (typeof format !== 'string' || !format.includes('%')) return format
  let next = 0
  return format.replace(PLACEHOLDER, (match, position, name, precision, type) => {
    if (type === '%') return '%'
    const value = name ? args[0]?.[name] : args[position ? position - 1 : next++]
    switch (type) {
      case 'd':
      case 'i': return Number.isNaN(parseInt(value, 10)) ? value : parseInt(value, 10)
      case 'f': return precision ? Number(value).toFixed(precision) : parseFloat(value)
      case 'j': return JSON.stringify(value)
      default: return precision ? String(value).slice(0, precision) : value
    }
  })
}

const PLACEHOLDER = /%(?:([1-9]\d*)\$|\((\w+)\))?(?:\.(\d{1,2}))?([sdifj%])/g
