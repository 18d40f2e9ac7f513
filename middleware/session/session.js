'use strict'

const { DOWN, isThenable } = require('../_shared/breaker')
const { given, misuse, noPromise } = require('../_shared/usage-error')
const { Kept, report } = require('../../lib/shared/error-path')
const { NOTHING } = require('./record')
const { canRespond, changesOf, cookiesOf, headersWith, keepPrivate, setBack } = require('./response')
const { maxAge } = require('./options')
const { attributesOf, checkMaxAge } = require('./settings')
const view = require('./view')

const ONE_DAY = 24 * 3600 * 1000 // ms

/** What the app has done with a session. REQUESTED counts until it is saved, the others until the end. */
const USED = 1        // read or assigned it
const CLEARED = 2     // assigned null
const RENEWED = 4     // requested a new id
const FORCED = 8      // requested to save it even if it has not changed
const REDECORATED = 16 // changed what is kept beside the data
const REQUESTED = RENEWED | FORCED | REDECORATED

/**
 * One request's session.
 *
 *    unread ──▶ loading ──▶ loaded       its `text` is known
 *      │           └──────▶ failed       its `failure` is; it may be loaded again
 *      └── at once, where the store gives no promise
 */
module.exports = class Session {
  /**
   * @param {object} ctx
   * @param {object} settings
   * @param {Session} [outer] of a session middleware above
   */
  constructor (ctx, settings, outer) {
    this.ctx = ctx
    this.settings = settings
    this.outer = outer
    this.id = '' // what the client sent, after it was verified
    this.value = undefined
    this.text = undefined // what is saved, as JSON; undefined: not loaded yet
    this.loading = undefined // a promise, if the store gave one
    this.failure = undefined // why it could not be loaded
    this.change = 0 // USED and others
    this.saving = undefined // a promise while it is saved
    this.extended = false // rolling and renew did their work
    this.gone = false // another request destroyed it
    this.sent = false // its key is in the response
    this.headers = settings.externalKey && {} // of the response, by externalKey.set
    this.outdated = false // its cookie was signed with an older key
    this.ownMaxAge = undefined // of this session alone, kept with it
    this.expires = Infinity // known with renew
    this.handler = undefined
  }

  get isNew () { return this.id === '' }

  has (changes) { return (this.change & changes) !== 0 }

  get maxAge () {
    return this.ownMaxAge ?? this.attributes().maxAge
  }

  set maxAge (maxAge) {
    this.ready()
    this.ownMaxAge = checkMaxAge(maxAge)
    this.change |= REDECORATED
  }

  saveNow () {
    this.ready()
    this.change |= FORCED
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
    this.ready()
    this.change |= USED
    return this.value
  }

  write (value) {
    this.ready()
    this.change |= USED
    if (value === this.value) return
    const data = view.copyOf(value) ?? null
    if (typeof data !== 'object' || Array.isArray(data)) throw misuse('session', `ctx.session must be an object or null, not ${given(data)}`)
    this.value = view(data, this)
  }

  renew () {
    this.ready()
    this.change |= RENEWED
  }

  /**
   * @throws {Error} why it could not be loaded: only a request that uses its session needs the store
   */
  ready () {
    if (this.text !== undefined) return
    if (this.failure === undefined && this.load() !== undefined) {
      throw misuse('session', 'with options.lazy, `await ctx.sessionHandler.load()` before the session is used')
    }
    if (this.failure === undefined) return
    this.failure.seen = true
    throw this.failure.err
  }

  /** @return {any} a promise that never rejects, or undefined */
  load () {
    if (this.loading !== undefined || this.text !== undefined) return this.loading
    const { storage, readKey, keyIndex } = this.settings
    const sent = readKey(this.ctx)
    const index = sent && keyIndex !== undefined ? keyIndex(this.ctx, sent) : 0
    this.outdated = index > 0
    const failed = err => { this.failure = { err, seen: false } }
    try {
      const found = sent && index >= 0 ? storage.load(sent) : NOTHING
      if (!isThenable(found)) return this.loaded(sent, found)
      const loaded = record => this.loaded(sent, record)
      this.loading = found.then(loaded).catch(failed).then(() => { this.loading = undefined })
      return this.loading
    } catch (err) {
      failed(err)
    }
  }

  loaded (sent, { value, text, ttl, problem }) {
    const { settings: { valid }, ctx } = this
    this.failure = undefined // of an earlier attempt
    if (problem !== undefined) report(ctx, problem)
    // an id that the store does not know is invented or expired: using it would allow session fixation
    this.id = value === undefined ? '' : sent
    const isDecorated = value?._maxAge !== undefined || value?._expire !== undefined
    let data = isDecorated ? this.undecorated(value) : value ?? {}
    if (this.id !== '' && valid !== undefined && !isValid(valid, ctx, data)) {
      this.id = ''
      this.ownMaxAge = undefined
      data = {}
      text = undefined
    }
    if (ttl !== undefined) this.expires = Date.now() + ttl
    this.text = isDecorated ? toText(data) : text ?? toText(data)
    this.value = view(data, this)
  }

  /** koa-session's names for what is kept beside the data: an app's data of these names is not stored. */
  undecorated ({ _maxAge, _expire = Infinity, ...value }) {
    this.ownMaxAge = maxAge.test(_maxAge) ? _maxAge : undefined
    this.expires = _expire
    return value
  }

  get keepsExpiry () { return this.settings.renew && !this.settings.storage.knowsTtl }

  get isDecorated () {
    return this.ownMaxAge !== undefined || this.keepsExpiry || '_maxAge' in this.value || '_expire' in this.value
  }

  decorated (value, ttl) {
    return { ...value, _maxAge: this.ownMaxAge, _expire: this.keepsExpiry ? Date.now() + ttl : undefined }
  }

  attributes () {
    const { cookie, ofAll } = this.settings
    if (typeof cookie !== 'function') return cookie
    // the cookie was already verified with it
    return { ...attributesOf(noPromise('session', 'options.cookie', cookie(this.ctx)), ofAll), signed: ofAll.signed === true }
  }

  /**
   * Save the session if one of these is true:
   *
   *    the app has REQUESTED it
   *    its data differ from what is saved, or null was assigned to one that was saved
   *    it is due to live longer, used or not
   *
   * One that another request has destroyed is not saved again, unless it gets a new id. Null ends it in any case.
   */
  commit () {
    if (this.saving !== undefined) return this.saving.then(() => this.commit(), () => this.commit())
    if (this.failure !== undefined) return this.reportFailure()
    if (this.sent) keepPrivate(this.ctx) // somebody may have set Cache-Control since
    const isDue = this.isDue()
    const isUsed = this.change !== 0
    if (!isUsed && !isDue) return undefined
    if (this.value === null) {
      this.value = view({}, this)
      this.change |= CLEARED
    }
    if (this.gone && !this.has(RENEWED | CLEARED)) return undefined

    let text = toText(this.value)
    let isChanged = text !== this.text || (this.has(CLEARED) && this.id !== '')
    if (!this.has(REQUESTED) && !isDue && !isChanged) return undefined
    const { beforeSave } = this.settings
    if (beforeSave !== undefined && text !== '{}') {
      noPromise('session', 'options.beforeSave', beforeSave(this.ctx, this.value))
      text = toText(this.value)
      isChanged = text !== this.text
    }
    const saving = this.save(text, isChanged).finally(() => { this.saving = undefined })
    this.saving = isUsed || isChanged ? saving : saving.catch(err => this.notExtended(err))
    return this.saving
  }

  /** The request did without its session: a store that fails is no reason to refuse it. */
  notExtended (err) {
    if (err.code !== 'KONE_ERR_SESSION_STORE') throw err
    this.extended = true // once is enough
    this.reportUnused(err)
  }

  /** Was it changed since it was saved, and is not being saved? */
  isUnsaved () {
    if (this.saving !== undefined || this.text === undefined || this.gone) return false
    return this.has(RENEWED | REDECORATED) || (this.has(USED) && toText(this.value) !== this.text)
  }

  /** Is an unchanged session to be saved, so that it lives longer, or to be signed with the newest key? */
  isDue () {
    const { settings: { rolling, renew }, ctx, id, extended, outdated } = this
    if (!(rolling || renew || outdated) || extended || id === '' || ctx.headerSent) return false
    return rolling || outdated || this.expires - Date.now() < ttlOf(this.maxAge) / 2
  }

  async save (text, isChanged) {
    const { change } = this
    this.change &= ~REQUESTED // what the app requests while this waits for the store is for the next save
    const renewed = (change & RENEWED) !== 0
    const isUnchanged = !isChanged && (change & REDECORATED) === 0
    const isEmptied = text === '{}' && ((change & CLEARED) !== 0 ||
      ((isChanged || renewed) && (change & (FORCED | REDECORATED)) === 0))
    try {
      await (isEmptied ? this.destroy() : this.store(text, { renewed, isUnchanged }))
    } catch (err) {
      this.change |= change
      throw err
    }
    this.text = text
    this.change &= ~CLEARED
    this.extended = true
  }

  async destroy () {
    const { ctx, id, settings: { storage, readKey, externalKey } } = this
    const { maxAge, ...cleared } = this.attributes()
    if (storage.isSealed && id !== '') this.needsResponse()
    if (id !== '') await storage.drop(id)
    this.id = ''
    this.gone = false
    if (externalKey === undefined && !ctx.headerSent && (this.sent || readKey(ctx))) this.send(null, cleared)
  }

  async store (text, { renewed, isUnchanged }) {
    const { ctx, id, value, settings: { storage } } = this
    const given = this.attributes()
    const maxAge = this.ownMaxAge ?? given.maxAge
    const attributes = { ...given, maxAge: maxAge === 'session' ? 0 : maxAge }
    const ttl = ttlOf(maxAge)
    const record = this.isDecorated ? this.decorated(value, ttl) : view.plain(value)
    const json = this.isDecorated ? toText(record) : text
    const write = isUnchanged && id !== '' && !renewed ? 'extend' : 'save'
    const isSent = storage.isSealed || renewed || id === ''
    if (isSent && !this.needsResponse()) return

    const saved = await storage[write](record, json, { ttl, id, renewed, attributes, ctx })
    this.gone = saved === undefined
    if (this.gone) return // the cookie is the other request's
    if (isSent && (ctx.headerSent || !canRespond(ctx))) { // an error was sent meanwhile, or the client left
      await storage.drop(saved)
      return this.needsResponse()
    }
    if (renewed && id !== '') await this.replace(id, saved, attributes)
    else if (!ctx.headerSent) this.send(saved, attributes)
    this.id = saved
  }

  /** The cookie is set before the old session is destroyed, because a response that is sent meanwhile must have it. */
  async replace (id, saved, attributes) {
    const before = { ...this.keptHeaders() }
    this.send(saved, attributes)
    try {
      await this.settings.storage.drop(id)
    } catch (err) {
      setBack(this.ctx, this.keptHeaders(), before)
      throw err
    }
  }

  /**
   * Else the client would keep an id that was destroyed, or a sealed session that should be.
   *
   * @return {boolean} false if the client has left: then nobody needs a new session
   * @throws {Error} if the response can no longer change
   */
  needsResponse () {
    const { ctx } = this
    if (!ctx.headerSent) return canRespond(ctx)
    const err = new Error('the client cannot get its session: the headers of the response are sent')
    throw Object.assign(err, { code: 'ERR_HTTP_HEADERS_SENT' })
  }

  send (value, attributes) {
    const { ctx, settings: { key, externalKey } } = this
    if (externalKey === undefined) ctx.cookies.set(key, value, attributes)
    else {
      const set = () => noPromise('session', 'options.externalKey.set', externalKey.set(ctx, value))
      Object.assign(this.headers, changesOf(ctx, set))
    }
    if (!this.sent) new Kept(headers => headersWith(headers, this.keptHeaders())).by(ctx)
    this.sent = true
    keepPrivate(ctx)
  }

  /** Those that the response to an error keeps, also to one that comes later: of a final, of the body. */
  keptHeaders () {
    return this.headers ?? cookiesOf(this.ctx, this.settings.key)
  }

  /** What no reader of the session has been thrown. */
  reportFailure () {
    const { err, seen } = this.failure
    this.failure.seen = true
    if (!seen) this.reportUnused(err)
  }

  /** While the store is known to be down, it was reported before. */
  reportUnused (err) {
    if (err.cause?.code !== DOWN) report(this.ctx, err)
  }

  /** Save although an error ends the request. */
  async commitInError () {
    try {
      await this.commit()
    } catch (failed) {
      report(this.ctx, failed)
    }
  }
}

function isValid (valid, ctx, data) {
  return noPromise('session', 'options.valid', valid(ctx, data))
}

/** ms that a store keeps a session for. */
function ttlOf (maxAge) {
  return maxAge > 0 ? maxAge : ONE_DAY
}

/** A plain object, because V8 has a faster way for these: Node 26 takes 13 instead of 38 µs for a text of 100 KB. */
function toText (session) {
  return JSON.stringify(view.plain(session)) ?? '{}'
}
