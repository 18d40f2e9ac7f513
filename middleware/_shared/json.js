'use strict'

// a spelling of either name must have the name or an escaped ASCII letter
const SUSPICIOUS = /__proto__|constructor|\\u00/

/**
 * JSON from a client. Refuses, or removes, keys that would reach a prototype when the value is
 * merged into another object.
 *
 *    parseJSON('{"a":1}') // { a: 1 }
 *
 * @param {String} text
 * @param {Boolean} [strict=true] objects and arrays only; an empty text is {}
 * @param {String} [onProtoPoisoning='error'] or 'remove', 'ignore'
 * @return {*}
 * @throws {SyntaxError} with status 400 and the text as `body`
 * @api private
 */
module.exports = function parseJSON (text, strict = true, onProtoPoisoning = 'error') {
  if (text === '') return strict ? {} : text
  try {
    if (strict && !/^[\x20\t\n\r]*[[{]/.test(text)) {
      throw new SyntaxError('invalid JSON, only objects and arrays are read')
    }
    const value = JSON.parse(text)
    if (onProtoPoisoning !== 'ignore' && isObject(value) && SUSPICIOUS.test(text)) purge(value, onProtoPoisoning)
    return value
  } catch (err) {
    throw Object.assign(err, { status: 400, body: text })
  }
}

function purge (value, action) {
  const open = [value]
  while (open.length > 0) {
    const holder = open.pop()
    for (const key of Object.keys(holder)) {
      const inner = holder[key]
      if (isPoisoned(key, inner)) {
        if (action === 'error') throw new SyntaxError(`invalid JSON, "${key}" is not allowed as a key`)
        delete holder[key]
      } else if (isObject(inner)) {
        open.push(inner)
      }
    }
  }
}

function isPoisoned (key, value) {
  return key === '__proto__' || (key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))
}

function isObject (value) {
  return typeof value === 'object' && value !== null
}
