'use strict'

const OWNER = Symbol('session of the object')

/**
 * Give `ctx.session` what koa-session's has beside the data: `isNew`, `maxAge`, `populated`, `externalKey`,
 * `save()`, `regenerate()` and `manuallyCommit()`. None of it is enumerable, so none of it is saved,
 * and a property of the app's own comes first.
 *
 * @param {object} value of ctx.session
 * @param {Session} session that it belongs to
 * @return {object} value
 * @api private
 */
module.exports = function view (value, session) {
  if (value === null || typeof value !== 'object' || !Object.isExtensible(value)) return value
  if (OWNER in value) {
    value[OWNER] = session
    return value
  }
  Object.defineProperty(value, OWNER, { value: session, writable: true })
  for (const name of NAMES) {
    if (!Object.hasOwn(value, name)) Object.defineProperty(value, name, PROPERTIES[name])
  }
  return value
}

const PROPERTIES = {
  isNew: property('isNew', session => session.isNew),
  populated: property('populated', session => Object.keys(session.value ?? {}).length > 0),
  externalKey: property('externalKey', session => session.id || undefined),
  maxAge: {
    configurable: true,
    get () { return this[OWNER].maxAge },
    set (value) {
      if (value === 'session' || value >= 0) this[OWNER].maxAge = value
      else own(this, 'maxAge', value)
    }
  },
  save: method(function save () { return this[OWNER].saveNow() }),
  regenerate: method(function regenerate () { return this[OWNER].regenerateNow() }),
  manuallyCommit: method(function manuallyCommit () { return this[OWNER].commitNow() })
}
const NAMES = Object.keys(PROPERTIES)

/** Read from the session; written, it is data of the app, as every other name. */
function property (name, read) {
  return {
    configurable: true,
    get () { return read(this[OWNER]) },
    set (value) { own(this, name, value) }
  }
}

function method (value) {
  return { value, configurable: true, writable: true }
}

function own (object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
