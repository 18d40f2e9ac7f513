'use strict'

const deadline = require('../_shared/deadline')
const { misuse } = require('../_shared/misuse')
const random = require('../_shared/random')
const MemoryStore = require('./memory')
const { NOTHING, recordOf } = require('./record')

const ID = /^[\w-]{32}$/

/**
 * Sessions in a store, found by a random id that only the server makes.
 */
module.exports = class ById {
  /**
   * @param {string} key prefix of the store's keys
   * @param {{ get: Function, set: Function, destroy: Function }} store
   * @throws {TypeError} for a store without one of these
   */
  constructor (key, store) {
    for (const method of ['get', 'set', 'destroy']) {
      if (typeof store[method] !== 'function') {
        throw misuse('session', `options.store must have the methods get, set and destroy: ${method} is missing`)
      }
    }
    this.prefix = `${key}:`
    this.store = store
    this.lazy = store.lazy === true
    this.keepsText = store instanceof MemoryStore
  }

  /**
   * @param {string} id that the client sent
   * @return {object|Promise<object>} a record
   */
  load (id) {
    if (!ID.test(id)) return NOTHING
    const found = ask(() => this.store.get(this.prefix + id))
    return isThenable(found) ? found.then(value => this.recordOf(id, value)) : this.recordOf(id, found)
  }

  /** Takes the JSON that was just parsed, if there is one: making it again costs as much as parsing. */
  recordOf (id, value) {
    return recordOf(value, this.keepsText ? this.store.textOf(this.prefix + id) : undefined)
  }

  /**
   * @param {object} session
   * @param {string} text its JSON
   * @param {{ ttl: number, id: string, renewed: boolean }} how ttl in ms; renewed: under a new id
   * @return {Promise<string>} the id
   */
  async save (session, text, { ttl, id, renewed }) {
    const kept = id !== '' && !renewed
    const saved = kept ? id : random(24).toString('base64url')
    const made = this.keepsText ? [text] : []
    await ask(() => this.store.set(this.prefix + saved, session, ttl, ...made))
    if (id !== '' && !kept) await this.drop(id)
    return saved
  }

  drop (id) {
    return ask(() => this.store.destroy(this.prefix + id))
  }
}

// Run an operation of a store. Its promise may never settle, so it has a deadline.
function ask (operation) {
  try {
    const result = operation()
    return isThenable(result) ? deadline(result).catch(fail) : result
  } catch (err) {
    fail(err)
  }
}

function fail (cause) {
  const err = new Error(`the session store failed: ${cause?.message ?? cause}`, { cause })
  throw Object.assign(err, { code: 'KONE_ERR_SESSION_STORE', status: 503 })
}

function isThenable (value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function'
}
