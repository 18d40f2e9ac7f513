'use strict'

const { isDeepStrictEqual } = require('node:util')
const { misuse } = require('../_shared/misuse')
const report = require('../_shared/report')
const { cookiesOf, withCookies } = require('./error-cookies')
const { NOTHING } = require('./record')
const { withDefaults } = require('./settings')
const view = require('./view')

const ONE_DAY = 24 * 3600 * 1000 // ms

/**
 * One request's session.
 */
module.exports = class Session {
  constructor (ctx, settings) {
    this.ctx = ctx
    this.settings = settings
    this.id = '' // the cookie's value, after it was verified
    this.value = undefined
    this.text = undefined // what is saved, as JSON; undefined: not loaded yet
    this.touched = false
    this.renewed = false
    this.forced = false // save it even if it has not changed
    this.saving = undefined // a promise while it is saved
    this.extended = false // rolling and renew did their work
    this.ownMaxAge = undefined // of this session alone, kept with it
    this.expires = Infinity // known with renew
    this.handler = undefined
  }

  get isNew () { return this.id === '' }

  get maxAge () {
    return this.ownMaxAge ?? this.attributes().maxAge
  }

  set maxAge (maxAge) {
    if (this.text === undefined) this.load()
    this.ownMaxAge = maxAge
    this.forced = true
  }

  saveNow () {
    if (this.text === undefined) this.load()
    this.forced = true
    return this.commitNow()
  }

  regenerateNow () {
    this.renew()
    return this.commitNow()
  }

  /** For a caller that does not await it, the end of the request tries again and reports the error. */
  commitNow () {
    const saved = Promise.resolve(this.commit())
    saved.catch(() => {})
    return saved
  }

  read () {
    if (this.text === undefined) this.load()
    this.touched = true
    return this.value
  }

  write (value) {
    if (Array.isArray(value)) throw misuse('session', 'ctx.session must be an object or null, not an array')
    if (this.text === undefined) this.load()
    this.touched = true
    this.value = view(value, this)
  }

  renew () {
    if (this.text === undefined) this.load()
    this.renewed = true
  }

  load () {
    const { storage, readCookie } = this.settings
    const sent = readCookie(this.ctx)
    const found = sent ? storage.load(sent) : NOTHING
    if (found instanceof Promise) return found.then(record => this.loaded(sent, record))
    this.loaded(sent, found)
  }

  loaded (sent, { value, text }) {
    // an id that the store does not know is invented or expired: using it would allow session fixation
    this.id = value === undefined ? '' : sent
    const isDecorated = value?._maxAge !== undefined || value?._expire !== undefined
    const data = isDecorated ? this.undecorated(value) : value ?? {}
    this.text = isDecorated ? toText(data) : text ?? toText(data)
    this.value = view(data, this)
  }

  /** koa-session's names for what is kept beside the data. */
  undecorated ({ _maxAge, _expire = Infinity, ...value }) {
    this.ownMaxAge = _maxAge
    this.expires = _expire
    return value
  }

  get isDecorated () { return this.ownMaxAge !== undefined || this.settings.renew }

  decorated (value, ttl) {
    const record = { ...value, _maxAge: this.ownMaxAge }
    if (this.settings.renew) record._expire = Date.now() + ttl
    return record
  }

  attributes () {
    const { cookie, ofAll } = this.settings
    if (typeof cookie !== 'function') return cookie
    // whether it is signed was decided when it was read
    return { ...withDefaults(cookie(this.ctx), ofAll), signed: ofAll.signed === true }
  }

  /** Save what was changed. */
  commit () {
    if (this.saving !== undefined) return this.saving.then(() => this.commit(), () => this.commit())
    const isDue = this.isDue()
    if (!this.touched && !this.renewed && !this.forced && !isDue) return undefined
    if (this.value === null || typeof this.value !== 'object') this.value = {}
    const text = toText(this.value)
    const isNeeded = this.renewed || this.forced || isDue
    if (!isNeeded && (text === this.text || this.isReordered(text))) return undefined
    this.saving = this.save(text).finally(() => { this.saving = undefined })
    return this.saving
  }

  /** Is an unchanged session to be saved, so that it lives longer? */
  isDue () {
    const { settings: { rolling, renew }, ctx, id, extended } = this
    if (!(rolling || renew) || extended || id === '' || ctx.headerSent) return false
    return rolling || this.expires - Date.now() < ttlOf(this.maxAge) / 2
  }

  /**
   * Another order of keys is not a change. Such texts differ from one member to another, so over a comma; parsing both
   * takes longer than to look for it.
   */
  isReordered (text) {
    return text.length === this.text.length && difference(text, this.text).includes(',') &&
      isDeepStrictEqual(JSON.parse(text), JSON.parse(this.text))
  }

  async save (text) {
    const { ctx, id, value, settings: { storage, key, readCookie } } = this
    const { maxAge: ofAll, ...cleared } = this.attributes()
    const maxAge = this.ownMaxAge ?? ofAll
    const attributes = { ...cleared, maxAge: maxAge === 'session' ? 0 : maxAge }
    const empty = text === '{}' && !this.forced

    if (empty) {
      this.id = ''
      if (id !== '') await storage.drop(id)
      if (!ctx.headerSent && readCookie(ctx)) ctx.cookies.set(key, null, cleared)
    } else {
      const ttl = ttlOf(maxAge)
      const record = this.isDecorated ? this.decorated(value, ttl) : view.plain(value)
      const json = this.isDecorated ? toText(record) : text
      this.id = await storage.save(record, json, { ttl, id, renewed: this.renewed, attributes })
      if (!ctx.headerSent || this.id !== id) ctx.cookies.set(key, this.id, attributes)
    }
    this.text = text
    this.renewed = false
    this.forced = false
    this.extended = true
  }

  /** Save, and return the error that ended the request. */
  async commitWith (err) {
    try {
      await this.commit()
    } catch (failed) {
      report(this.ctx, failed)
      return err
    }
    return withCookies(err, cookiesOf(this.ctx, this.settings.key))
  }
}

/** ms that a store keeps a session for. */
function ttlOf (maxAge) {
  return maxAge > 0 ? maxAge : ONE_DAY
}

/** What is left of `text` without what it and `other`, which is as long, begin and end with. */
function difference (text, other) {
  const begin = firstWhere(text.length, (from, to) => text.slice(from, to) !== other.slice(from, to))
  const length = text.length - begin
  const last = (string, from, to) => string.slice(string.length - to, string.length - from)
  const end = firstWhere(length, (from, to) => last(text, from, to) !== last(other, from, to))
  return text.slice(begin, text.length - end)
}

/** Halves `length` until one place is left where two texts differ; V8 compares their parts by memcmp. */
function firstWhere (length, differ) {
  let from = 0
  for (let to = length; to - from > 1;) {
    const middle = (from + to) >> 1
    if (differ(from, middle)) to = middle
    else from = middle
  }
  return from
}

function toText (session) {
  return JSON.stringify(session) ?? '{}'
}
