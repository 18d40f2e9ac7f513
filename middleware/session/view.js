'use strict'

const { own } = require('../_shared/context')

/**
 * The property of a value that has its Session. A WeakMap costs 1 µs more per session, and its entries until the next
 * collection (Node 26; benchmarks/micro/middleware.js, session).
 */
const kSession = Symbol('session')

/**
 * Add to `ctx.session` what koa-session's has beside the data: `isNew`, `maxAge`, `populated`, `externalKey`,
 * `save()`, `regenerate()` and `manuallyCommit()`. They are inherited and not enumerable, so none of them
 * is saved, spread or listed, and a property of the app with such a name hides the inherited one.
 *
 * @param {object} value of ctx.session; its prototype is replaced if it is `Object.prototype`
 * @param {object} session that the value belongs to
 * @return {object} value
 * @api private
 */
module.exports = function view (value, session) {
  if (value === null || typeof value !== 'object' || !Object.isExtensible(value)) return value
  const isNew = !Object.hasOwn(value, kSession)
  Object.defineProperty(value, kSession, { value: session, configurable: true }) // not enumerable
  if (!isNew) return value

  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype) return Object.setPrototypeOf(value, Session.prototype)
  if (prototype !== Session.prototype) addMembers(value)
  return value
}

/**
 * A plain object for a store, because a store may serialise in another way than JSON.
 *
 * @param {object} value of ctx.session
 * @return {object}
 */
module.exports.plain = value => {
  return Object.getPrototypeOf(value) === Session.prototype ? { ...value } : value
}

// Assigned to a name of the session's, a value is data of the app, as under every other name.
class Session {
  get isNew () { return this[kSession].isNew }
  set isNew (value) { own(this, 'isNew', value) }

  get populated () { return Object.keys(this[kSession].value ?? {}).length > 0 }
  set populated (value) { own(this, 'populated', value) }

  get externalKey () { return this[kSession].id || undefined }
  set externalKey (value) { own(this, 'externalKey', value) }

  get maxAge () { return this[kSession].maxAge }
  set maxAge (value) {
    if (value === 'session' || (typeof value === 'number' && value >= 0)) this[kSession].maxAge = value
    else own(this, 'maxAge', value)
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

/** For an instance of another class, which keeps its prototype. */
function addMembers (value) {
  const { constructor, ...members } = Object.getOwnPropertyDescriptors(Session.prototype)
  for (const [name, descriptor] of Object.entries(members)) {
    if (!Object.hasOwn(value, name)) Object.defineProperty(value, name, descriptor)
  }
}
