'use strict'

const createError = require('http-errors')
const secure = require('secure-json-parse')

/**
 * Parse JSON of a client. Refuses, or removes, keys that would reach a prototype when the value is
 * merged into another object.
 *
 *    parseJSON('{"a":1}') // { a: 1 }
 *
 * @param {string} text
 * @param {boolean} [strict=true] objects and arrays only; an empty text is {}
 * @param {string} [onProtoPoisoning='error'] or 'remove', 'ignore'
 * @return {*}
 * @throws {SyntaxError} as http-errors makes it: status 400, `expose`; the text as `body`
 * @api private
 */
module.exports = function parseJSON (text, strict = true, onProtoPoisoning = 'error') {
  if (text === '') return strict ? {} : text
  try {
    if (strict && !/^[\x20\t\n\r]*[[{]/.test(text)) {
      throw new SyntaxError('invalid JSON, only objects and arrays are read')
    }
    return secure.parse(text, { protoAction: onProtoPoisoning, constructorAction: onProtoPoisoning })
  } catch (err) {
    throw createError(400, err, { body: text })
  }
}
