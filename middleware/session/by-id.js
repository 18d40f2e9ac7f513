'use strict'

const { breakerOf, isThenable } = require('../_shared/breaker')
const { given, misuse, noPromise } = require('../_shared/usage-error')
const random = require('../_shared/random')
const MemoryStore = require('./memory')
const { NOTHING, recordOf } = require('./record')
const RedisStore = require('./redis')
const turnsOf = require('./turns')
const { copyOf } = require('./view')

const ID = /^[\w-]{32}$/
const OWN_ID = /^[\w.~-]{16,256}$/ // of genid
const MAX_REPORTED = 1000

/**
 * Sessions in a store, found by a random id that only the server makes.
 */
module.exports = class ById {
  /**
   * @param {string} key prefix of the store's keys
   * @param {any} store has get, set and destroy; see the README for others
   * @param {{ renew: boolean, genid?: Function }} options
   * @throws {TypeError} for a store without one of these
   */
  constructor (key, store, { renew, genid }) {
    for (const method of ['get', 'set', 'destroy']) {
      if (typeof store[method] !== 'function') {
        throw misuse('session', `options.store must have the methods get, set and destroy: ${method} is missing`)
      }
    }
    const has = name => typeof store[name] === 'function'
    this.prefix = `${key}:`
    this.store = store
    this.lazy = store.lazy === true
    this.keepsText = store instanceof MemoryStore
    this.parses = this.keepsText || store instanceof RedisStore
    this.genid = genid
    this.id = genid === undefined ? ID : OWN_ID
    this.breaker = breakerOf(store instanceof RedisStore ? store.client : store, () => this.get('probe'))
    this.reported = new Set() // ids of records that are not JSON

    // how long a record is kept is known from the store, or kept in the record
    this.knowsTtl = renew && has('touch') && has('ttl')
    const isComplete = has('replace') && has('touch') && (!renew || this.knowsTtl)
    this.writer = isComplete ? store : turnsOf(store)
  }

  get isUp () { return this.breaker.isUp }

  /**
   * @param {string} id that the client sent
   * @return {object|Promise<object>} a record
   */
  load (id) {
    if (!this.id.test(id)) return NOTHING
    if (this.knowsTtl) return this.loadWithTtl(id)
    const found = this.ask(() => this.get(id))
    return isThenable(found) ? found.then(value => this.recordOf(id, value)) : this.recordOf(id, found)
  }

  loadWithTtl (id) {
    const found = this.ask(() => {
      const both = [this.get(id), this.store.ttl(this.prefix + id)]
      return both.some(isThenable) ? Promise.all(both) : both
    })
    const toRecord = ([value, ttl]) => ({ ...this.recordOf(id, value), ttl })
    return isThenable(found) ? found.then(toRecord) : toRecord(found)
  }

  /** A record that is not JSON is no failure of the store. */
  get (id) {
    try {
      const found = this.store.get(this.prefix + id)
      return isThenable(found) ? found.then(value => value, corrupt) : found
    } catch (err) {
      return corrupt(err)
    }
  }

  /** Takes the JSON that was just parsed, if there is one: making it again costs as much as parsing. */
  recordOf (id, value) {
    if (value instanceof Corrupt) return { ...NOTHING, problem: this.problemOf(id, value) }
    if (!this.parses) return recordOf(copyOf(value)) // the store may give one object to several requests
    return recordOf(value, this.keepsText ? this.store.textOf(this.prefix + id) : undefined)
  }

  /** What is to be reported, once for each record. */
  problemOf (id, { cause }) {
    if (this.reported.has(id)) return undefined
    if (this.reported.size === MAX_REPORTED) this.reported.clear()
    this.reported.add(id)
    const err = new Error('a session in the store is not JSON: its client gets an empty session', { cause })
    return Object.assign(err, { code: 'KONE_ERR_SESSION_RECORD' })
  }

  /**
   * @param {object} session
   * @param {string} text its JSON
   * @param {{ ttl: number, id: string, renewed: boolean, ctx: object }} how ttl in ms; renewed: under a new id, beside
   *   the old one
   * @return {Promise<string|undefined>} the id; undefined if another request has destroyed the session
   */
  async save (session, text, { ttl, id, renewed, ctx }) {
    const made = this.keepsText ? [text] : []
    if (id !== '' && !renewed) {
      const isKept = await this.ask(() => this.writer.replace(this.prefix + id, session, ttl, ...made))
      return isKept === false ? undefined : id
    }
    const saved = this.newId(ctx)
    if (saved === id) throw misuse('session', 'options.genid must return another id when the session gets a new one')
    await this.ask(() => this.store.set(this.prefix + saved, session, ttl, ...made))
    return saved
  }

  /**
   * Let a record that has not changed live longer. It is not written, because another request may have changed it.
   *
   * @param {object} session
   * @param {string} text
   * @param {{ ttl: number, id: string }} how
   * @return {Promise<string|undefined>} as of `save`
   */
  async extend (session, text, { ttl, id }) {
    const isKept = await this.ask(() => this.writer.touch(this.prefix + id, ttl))
    return isKept === false ? undefined : id
  }

  newId (ctx) {
    if (this.genid === undefined) return random(24).toString('base64url')
    const id = noPromise('session', 'options.genid', this.genid(ctx))
    if (typeof id === 'string' && OWN_ID.test(id)) return id
    throw misuse('session', `options.genid must return 16 to 256 of the characters A-Z a-z 0-9 _ . ~ -, not ${given(id)}`)
  }

  drop (id) {
    return this.ask(() => this.writer.destroy(this.prefix + id))
  }

  /** Run an operation of the store. Its promise may never settle, so it has a deadline. */
  ask (operation) {
    try {
      const result = this.breaker.run(operation)
      return isThenable(result) ? result.catch(fail) : result
    } catch (err) {
      fail(err)
    }
  }
}

class Corrupt {
  constructor (cause) { this.cause = cause }
}

/** JSON.parse, also a custom store's, throws a SyntaxError. */
function corrupt (err) {
  if (err?.name === 'SyntaxError') return new Corrupt(err)
  throw err
}

function fail (cause) {
  const err = new Error(`the session store failed: ${cause?.message ?? cause}`, { cause })
  throw Object.assign(err, { code: 'KONE_ERR_SESSION_STORE', status: 503 })
}
