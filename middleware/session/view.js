'use strict'

/**
 * Add to `ctx.session` what koa-session's has beside the data: `isNew`, `maxAge`, `populated`, `externalKey`,
 * `save()`, `regenerate()` and `manuallyCommit()`. They are inherited and not enumerable, so none of them
 * is saved, spread or listed, and a property of the app with such a name hides the inherited one.
 *
 * The session that an object belongs to is a private field of the object: defining eight properties instead
 * costs 1.2 µs more per session (benchmarks/micro/middleware.js, session).
 *
 * @param {object} value of ctx.session; its prototype is replaced if it is `Object.prototype`
 * @param {object} session that the value belongs to
 * @return {object} value
 * @api private
 */
module.exports = function view (value, session) {
  if (value === null || typeof value !== 'object') return value
  if (Owned.has(value)) return Owned.move(value, session)
  if (!Object.isExtensible(value)) return value

  new Owned(value, session) // eslint-disable-line no-new
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

class Returned {
  constructor (object) { return object }
}

/** Adds a private field to an object that exists already. */
class Owned extends Returned {
  #session

  constructor (value, session) {
    super(value)
    this.#session = session
  }

  static has (value) { return #session in value }
  static of (value) { return value.#session }
  static move (value, session) {
    value.#session = session
    return value
  }
}

class Session {
  get isNew () { return Owned.of(this).isNew }
  set isNew (value) { own(this, 'isNew', value) }

  get populated () { return Object.keys(Owned.of(this).value ?? {}).length > 0 }
  set populated (value) { own(this, 'populated', value) }

  get externalKey () { return Owned.of(this).id || undefined }
  set externalKey (value) { own(this, 'externalKey', value) }

  get maxAge () { return Owned.of(this).maxAge }
  set maxAge (value) {
    if (value === 'session' || value >= 0) Owned.of(this).maxAge = value
    else own(this, 'maxAge', value)
  }

  save (callback) { return called(callback, Owned.of(this).saveNow()) }
  regenerate (callback) { return called(callback, Owned.of(this).regenerateNow()) }
  manuallyCommit () { return Owned.of(this).commitNow() }
}

/** passport waits for the callback that express-session and koa-session take. */
function called (callback, promise) {
  if (typeof callback === 'function') promise.then(() => callback(), callback)
  return promise
}

/** Assigned to a name of the session's, a value is data of the app, as under every other name. */
function own (object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** For an instance of another class, which keeps its prototype. */
function addMembers (value) {
  const { constructor, ...members } = Object.getOwnPropertyDescriptors(Session.prototype)
  for (const [name, descriptor] of Object.entries(members)) {
    if (!Object.hasOwn(value, name)) Object.defineProperty(value, name, descriptor)
  }
}
