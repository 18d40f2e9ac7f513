'use strict'

// Requires nothing, because kone/client takes it into browsers.

const LONG = 20 // characters: longer text may be a key or a password, which must not be in a log

/**
 * The error of a call or an option that cannot work: what is wrong, and the page to read.
 *
 *    throw misuse('compose-and-final', `app.final(fn): fn must be a function, not ${given(fn)}`)
 *    // TypeError: app.final(fn): fn must be a function, not 5 (kone/docs/api/compose-and-final.md)
 *
 * @param {string} page name of a page of docs/api/
 */
function misuse (page, message) {
  return new TypeError(`${message} (kone/docs/api/${page}.md)`)
}

/**
 * A value in a message, without what may be secret: of an object only its class, of a long text only its length.
 *
 *    given('1d')                // "'1d'"
 *    given(Buffer.from('key'))  // 'an object of class Buffer'
 */
function given (value) {
  if (typeof value === 'string') {
    const isShort = value.length <= LONG && !value.includes('://')
    return isShort ? quoted(value) : `a string of ${value.length} characters`
  }
  if (typeof value === 'function') return value.name ? `the function ${value.name.slice(0, LONG)}` : 'a function'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'an array'
  if (typeof value !== 'object' || value === null) return String(value)
  const name = value.constructor?.name
  return name && name !== 'Object' ? `an object of class ${name.slice(0, LONG)}` : 'an object'
}

// Control characters would act on the terminal that shows a log.
function quoted (text) {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped.replace(/[\x7f-\x9f\u2028\u2029]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`
}

module.exports = { given, misuse }
