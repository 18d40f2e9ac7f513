'use strict'

const { misuse } = require('../_shared/usage-error')
const read = require('./catalogues')
const engineOf = require('./engine')
const helpersOf = require('./helpers')

const MAX_KNOWN_HEADERS = 1000
const MAX_HEADER = 256 // characters; a longer one is parsed each time

/** The catalogues of an app, ready to be looked up. */
module.exports = class Locales {
  constructor (options) {
    this.contents = read(options)
    const names = Object.keys(this.contents)
    const { defaultLocale = names[0] } = options
    const { fallback = defaultLocale } = options
    for (const [option, name] of Object.entries({ defaultLocale, fallback: fallback || defaultLocale })) {
      if (names.includes(name)) continue
      throw misuse('i18n', `options.${option}: there is no catalogue of the locale ${name}, only ${names}`)
    }

    const engine = engineOf(this.contents, fallback)
    this.byName = new Map(names.map(name => {
      const messages = new Map()
      for (const lender of [fallback, ...lookup(name).reverse()]) {
        if (Object.hasOwn(this.contents, lender)) flatten(this.contents[lender], '', messages)
      }
      return [name, { name, tag: tagOf(name), helpers: helpersOf(name, messages, engine) }]
    }))
    this.default = this.byName.get(defaultLocale)
    this.byLowerCase = new Map(names.map(name => [name.toLowerCase(), name]))
    this.knownHeaders = new Map()
  }

  /** @return {string|undefined} the name as the catalogues spell it */
  find (name) {
    if (typeof name === 'string') return this.byLowerCase.get(name.toLowerCase()) // koa-qs and koa-locale have others
  }

  /** The first language in the client's order of preference spoken here: zh-Hant, or else zh, for zh-Hant-TW. */
  accepted (ctx) {
    const header = ctx.get('accept-language')
    if (header === '' || this.knownHeaders.has(header)) return this.knownHeaders.get(header)

    let found
    for (const language of ctx.request.getLocaleFromHeader(true)) {
      found = lookup(language).map(tag => this.find(tag)).find(name => name !== undefined)
      if (found !== undefined) break
    }
    if (header.length <= MAX_HEADER) {
      if (this.knownHeaders.size === MAX_KNOWN_HEADERS) this.knownHeaders.clear()
      this.knownHeaders.set(header, found)
    }
    return found
  }
}

/** `zh_CN` → `zh-CN`; undefined for a name that is not a language's. */
function tagOf (name) {
  const tag = name.replaceAll('_', '-')
  return /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(tag) ? tag : undefined
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`: the order of RFC 4647, 3.4, in which no range ends in a single letter. */
function lookup (name) {
  if (name.length > MAX_HEADER) return [name] // no language's
  const tags = []
  let tag = name
  while (tag !== '') {
    tags.push(tag)
    tag = tag.slice(0, Math.max(tag.lastIndexOf('-'), 0)).replace(/-.$/, '')
  }
  return tags
}

/** `{ a: { b: 'x' } }` is found by the keys `a` and `a.b`; a key spelled so itself wins. */
function flatten (catalogue, prefix, messages) {
  for (const [key, value] of Object.entries(catalogue)) {
    if (value !== null && typeof value === 'object') flatten(value, `${prefix}${key}.`, messages)
  }
  for (const [key, value] of Object.entries(catalogue)) messages.set(prefix + key, value)
}
