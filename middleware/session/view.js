'use strict'

const { defineValue } = require('../_shared/context')

/**
 * Of a `ctx.session`: its RequestSession (session.js). A WeakMap costs more per session, and its entries stay until the
 * next collection.
 */
const kSession = Symbol('session')

/**
 * Make `ctx.session`: the data, and what koa-session's has beside it: `isNew`, `maxAge`, `populated`, `externalKey`,
 * `save()`, `regenerate()` and `manuallyCommit()`. They are inherited and not enumerable, so none of them is saved,
 * spread or listed, and a property of the app with such a name hides the inherited one. The data is copied, because an
 * object that the app gives to two sessions can have the members of only one.
 *
 * @param {*} data
 * @param {object} session the RequestSession that the data belongs to
 * @return {*} an object for an object, otherwise the value itself
 * @api private
 */
module.exports = function view (data, session) {
  return data === null || typeof data !== 'object' ? data : new Session(data, session)
}

/**
 * A plain object for a store, because a store may serialise in another way than JSON.
 *
 * @param {object} value of ctx.session
 * @return {object}
 */
module.exports.plain = value => ({ ...value })

/**
 * Copy what JSON sees as data: objects and arrays at any depth. An instance of a class becomes a plain object at the
 * top, and is not copied further down, where nothing of the session is added to it.
 *
 *    const GUEST = { cart: [] }
 *    copyOf(GUEST).cart.push('a book') // GUEST.cart is still empty
 *
 * @param {*} value
 * @return {*}
 */
module.exports.copyOf = value => {
  const data = typeof value?.toJSON === 'function' ? value.toJSON('') : value
  return data === null || typeof data !== 'object' ? data : copy(data, new Map())
}

function copy (value, copies) {
  const made = Array.isArray(value) ? value.slice() : { ...value }
  copies.set(value, made) // JSON.stringify reports a cycle
  for (const name of Object.keys(made)) {
    const inner = made[name]
    if (isPlain(inner)) made[name] = copies.get(inner) ?? copy(inner, copies)
  }
  return made
}

function isPlain (value) {
  if (value === null || typeof value !== 'object') return false
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === null || prototype === Session.prototype ||
    Object.getPrototypeOf(prototype) === null // Object.prototype, of any realm
}

// The class has koa-session's name, which apps see in logs. A value that is assigned to one of these members is data of
// the app, as under every other name.
class Session {
  constructor (data, session) {
    Object.defineProperty(this, kSession, { value: session }) // not enumerable
    for (const name of Object.keys(data)) {
      if (name in Session.prototype) defineValue(this, name, data[name])
      else this[name] = data[name]
    }
  }

  get isNew () { return this[kSession].isNew }
  set isNew (value) { defineValue(this, 'isNew', value) }

  get populated () { return Object.keys(this[kSession].value ?? {}).length > 0 }
  set populated (value) { defineValue(this, 'populated', value) }

  get externalKey () { return this[kSession].id || undefined }
  set externalKey (value) { defineValue(this, 'externalKey', value) }

  get maxAge () { return this[kSession].maxAge }
  set maxAge (value) {
    if (value === 'session' || typeof value === 'number') this[kSession].maxAge = value
    else defineValue(this, 'maxAge', value)
  }

  save (callback) { return called(callback, this[kSession].saveNow()) }
  regenerate (callback) { return called(callback, this[kSession].regenerateNow()) }
  manuallyCommit () { return this[kSession].commitNow() }
}

/** passport waits for the callback that express-session and koa-session take. */
function called (callback, promise) {
  if (typeof callback === 'function') promise.then(() => callback(), callback)
  return promise
}
