'use strict'

const { DOWN, isThenable } = require('../_shared/breaker')
const { given, misuse, noPromise } = require('../_shared/usage-error')
const { KeptHeaders, report } = require('../../lib/shared/error-path')
const { NOTHING } = require('./record')
const { canRespond, changesOf, cookiesOf, headersWith, keepPrivate, setBack } = require('./response')
const { maxAge } = require('./options')
const { attributesOf, checkMaxAge } = require('./settings')
const view = require('./view')

const ONE_DAY = 24 * 3600 * 1000 // ms

/** `state`, what is known of the record. In the last two there is a value; GONE: another request destroyed it. */
const UNREAD = 0
const LOADING = 1
const FAILED = 2
const LOADED = 3
const GONE = 4

/** `change`, what the app has done. REQUESTED counts until it is saved, the others until the end. */
const USED = 1        // read or assigned it
const CLEARED = 2     // assigned null
const RENEWED = 4     // requested a new id
const FORCED = 8      // requested to save it even if it has not changed
const REDECORATED = 16 // changed what is kept beside the data
const REQUESTED = RENEWED | FORCED | REDECORATED

/** `extension`, when a session that has not changed is saved, so that it lives longer; once in a request. */
const NEVER = 0
const HALFWAY = 1 // less than half of its time is left
const ALWAYS = 2

/** What commit() does. */
const DESTROY = 0
const SAVE = 1
const EXTEND = 2

/**
 * One request's session.
 *
 *    UNREAD ──▶ LOADING ──▶ LOADED ◀──▶ GONE     until it gets a new id
 *      │           └──────▶ FAILED ──▶           it may be loaded again
 *      └── at once, where the store gives no promise
 */
module.exports = class RequestSession {
  /**
   * @param {object} ctx
   * @param {object} settings
   * @param {RequestSession} [outer] of a session middleware above
   */
  constructor (ctx, settings, outer) {
    this.ctx = ctx
    this.settings = settings
    this.outer = outer
    this.id = '' // what the client sent, after it was verified
    this.value = undefined
    this.text = '' // what is saved, as JSON
    this.state = UNREAD
    this.loading = undefined // a promise while it is loaded
    this.failure = undefined // why it could not be loaded
    this.change = 0
    this.saving = undefined // a promise while it is saved
    this.extension = NEVER
    this.sent = false // its key is in the response
    this.headers = settings.externalKey && {} // of the response, by externalKey.set
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
    if (this.state === UNREAD) this.load()
    if (this.state >= LOADED) return
    if (this.state === LOADING) {
      throw misuse('session', 'with options.lazy, `await ctx.sessionHandler.load()` before the session is used')
    }
    this.failure.seen = true
    throw this.failure.err
  }

  /** @return {any} a promise that never rejects, or undefined */
  load () {
    if (this.state !== UNREAD && this.state !== FAILED) return this.loading
    const { storage, readKey, keyIndex } = this.settings
    const sent = readKey(this.ctx)
    const index = sent && keyIndex !== undefined ? keyIndex(this.ctx, sent) : 0
    try {
      const found = sent && index >= 0 ? storage.load(sent) : NOTHING
      if (!isThenable(found)) return this.loaded(sent, index, found)
      this.state = LOADING
      const loaded = record => this.loaded(sent, index, record)
      this.loading = found.then(loaded).catch(err => this.failed(err)).then(() => { this.loading = undefined })
      return this.loading
    } catch (err) {
      this.failed(err)
    }
  }

  failed (err) {
    this.state = FAILED
    this.failure = { err, seen: false }
  }

  /** @param {number} index of the key that signed the cookie: one of an older key is to be signed with the newest */
  loaded (sent, index, { value, text, ttl, problem }) {
    const { settings: { rolling, renew, valid }, ctx } = this
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
    if (this.id !== '') this.extension = rolling || index > 0 ? ALWAYS : renew ? HALFWAY : NEVER
    this.state = LOADED
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
    // `signed` of every request, because the cookie was already verified with it
    return { ...attributesOf(noPromise('session', 'options.cookie', cookie(this.ctx)), ofAll), signed: ofAll.signed === true }
  }

  /**
   * Save what the app has changed or requested, and what is due to live longer, used or not.
   *
   * @return {any} a promise; undefined: nothing is to be saved
   */
  commit () {
    if (this.saving !== undefined) return this.saving.then(() => this.commit(), () => this.commit())
    if (this.state === FAILED) return this.reportFailure()
    if (this.sent) keepPrivate(this.ctx) // somebody may have set Cache-Control since
    const isDue = this.isDue()
    const isUsed = this.change !== 0
    if (!isUsed && !isDue) return undefined
    if (this.value === null) {
      this.value = view({}, this)
      this.change |= CLEARED
    }
    if (this.state === GONE && !this.has(RENEWED | CLEARED)) return undefined // another request has destroyed it

    let text = toText(this.value)
    if (!isDue && !this.has(REQUESTED) && !this.isChanged(text)) return undefined
    const { beforeSave } = this.settings
    if (beforeSave !== undefined && text !== '{}') {
      noPromise('session', 'options.beforeSave', beforeSave(this.ctx, this.value))
      text = toText(this.value)
    }
    const action = this.actionFor(text)
    const saving = this.save(action, text).finally(() => { this.saving = undefined })
    this.saving = isUsed || action !== EXTEND ? saving : saving.catch(err => this.notExtended(err))
    return this.saving
  }

  /** Does the data differ from what is saved? */
  isChanged (text) {
    return text !== this.text || (this.has(CLEARED) && this.id !== '')
  }

  /** The first row that is true. */
  actionFor (text) {
    const isChanged = this.isChanged(text)
    if (text === '{}' && this.has(CLEARED)) return DESTROY
    if (text === '{}' && (isChanged || this.has(RENEWED)) && !this.has(FORCED | REDECORATED)) return DESTROY
    if (isChanged || this.isNew || this.has(RENEWED | REDECORATED)) return SAVE
    return EXTEND
  }

  /** The request did without its session: a store that fails is no reason to refuse it. */
  notExtended (err) {
    if (err.code !== 'KONE_ERR_SESSION_STORE') throw err
    this.extension = NEVER // once is enough
    this.reportUnused(err)
  }

  /** Was it changed since it was saved, and is not being saved? */
  isUnsaved () {
    if (this.saving !== undefined || this.state !== LOADED) return false
    return this.has(RENEWED | REDECORATED) || (this.has(USED) && toText(this.value) !== this.text)
  }

  /** Is an unchanged session to be saved? */
  isDue () {
    if (this.extension === NEVER || this.ctx.headerSent) return false
    return this.extension === ALWAYS || this.expires - Date.now() < ttlOf(this.maxAge) / 2
  }

  async save (action, text) {
    const { change } = this
    this.change &= ~REQUESTED // what the app requests while this waits for the store is for the next save
    try {
      await (action === DESTROY ? this.destroy() : this.store(action, text, (change & RENEWED) !== 0))
    } catch (err) {
      this.change |= change
      throw err
    }
    this.text = text
    this.change &= ~CLEARED
    this.extension = NEVER
  }

  async destroy () {
    const { ctx, id, settings: { storage, readKey, externalKey } } = this
    const { maxAge, ...cleared } = this.attributes()
    if (storage.isSealed && id !== '') this.needsResponse()
    if (id !== '') await storage.drop(id)
    this.id = ''
    this.state = LOADED
    if (externalKey === undefined && !ctx.headerSent && (this.sent || readKey(ctx))) this.send(null, cleared)
  }

  async store (action, text, renewed) {
    const { ctx, id, value, settings: { storage } } = this
    const ofAll = this.attributes()
    const maxAge = this.ownMaxAge ?? ofAll.maxAge
    const attributes = { ...ofAll, maxAge: maxAge === 'session' ? 0 : maxAge }
    const ttl = ttlOf(maxAge)
    const record = this.isDecorated ? this.decorated(value, ttl) : view.plain(value)
    const json = this.isDecorated ? toText(record) : text
    const isSent = storage.isSealed || renewed || id === ''
    if (isSent && !this.needsResponse()) return

    const how = { ttl, id, renewed, attributes, ctx }
    const saved = await (action === EXTEND ? storage.extend(record, json, how) : storage.save(record, json, how))
    this.state = saved === undefined ? GONE : LOADED
    if (saved === undefined) return // the cookie is the other request's
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
    if (!this.sent) new KeptHeaders(headers => headersWith(headers, this.keptHeaders())).keepFor(ctx)
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
