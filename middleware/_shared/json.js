'use strict'

const createError = require('../../lib/shared/http-errors')

/** Without these no key can be one that reaches a prototype. */
const SUSPECT = /__proto__|constructor|\\u00[5-7]/

/** Of a text so many characters are read again for the place of an error: all of them would cost more than the text. */
const READ = 20_000

/** What an error of V8 costs, in characters that it reads. */
const TRY = 500

/** V8's message of a character that cannot be there. */
const UNEXPECTED = /^Unexpected token '(.+?)', (\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/su

/** Characters that V8 quotes on each side of an unexpected one, in a text of more than twice as many. */
const QUOTED = 10

/**
 * Parse JSON of a client. Refuses, or removes, keys that would reach a prototype when the value is
 * merged into another object.
 *
 *    parseJSON('{"a":1}') // { a: 1 }
 *
 * By hand because the check of secure-json-parse costs up to 15 times the text, which
 * test/security/error-costs.once.long.measure.test.js measures.
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
    if (strict && !['{', '['].includes(text[firstOf(text)])) throw new SyntaxError('invalid JSON, only objects and arrays are read')
    const value = JSON.parse(text)
    return onProtoPoisoning === 'ignore' || !SUSPECT.test(text) ? value : harmless(value, onProtoPoisoning === 'remove')
  } catch (err) {
    const at = breakOf(text, err.message)
    if (at <= READ && !err.message.includes(' (line ')) err.message += ` (${lineOf(text, at)})`
    throw createError(400, err, { body: text })
  }
}

/**
 * The value without keys that reach a prototype.
 *
 * @param {*} root
 * @param {boolean} removes them, instead of throwing
 * @throws {SyntaxError}
 */
function harmless (root, removes) {
  const open = [[root]]
  while (open.length > 0) {
    const value = open.pop()
    if (Array.isArray(value)) look(value, open, removes)
    else check(value, open, removes)
  }
  return root
}

/**
 * Objects of an array are checked at once: 1 MB can have a third of a million of them, and `open` would grow with it. A
 * number, of which there are half a million, costs no call, and forEach() costs twenty times as much.
 */
function look (array, open, removes) {
  for (let i = 0; i < array.length; i++) {
    const value = array[i]
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) open.push(value)
    else check(value, open, removes)
  }
}

function check (object, open, removes) {
  for (const name in object) { // Object.values() sorts the names of large objects
    const value = object[name]
    if (reachesPrototype(object, name)) {
      if (!removes) throw new SyntaxError('Object contains forbidden prototype property')
      delete object[name]
    } else if (typeof value === 'object' && value !== null) {
      open.push(value)
    }
  }
}

function reachesPrototype (object, name) {
  if (name !== '__proto__' && name !== 'constructor') return false
  if (!Object.hasOwn(object, name)) return false
  const value = object[name]
  return name === '__proto__' || (typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'))
}

/**
 * Where a text stops being JSON. V8's messages have the position, or quote the characters around it: these are sought,
 * up to the first ones that V8 does not read beyond.
 *
 * @param {string} text
 * @param {string} message of V8, or of parseJSON
 * @return {number | undefined} index of the first character that cannot be there; undefined if it takes long to find
 */
function breakOf (text, message) {
  const [, position] = / position (\d+)/.exec(message) ?? []
  if (position !== undefined) return Number(position)
  if (message.startsWith('Unexpected end')) return text.length
  if (message.startsWith('invalid JSON')) return firstOf(text)
  const unexpected = UNEXPECTED.exec(message)
  if (unexpected === null) return undefined
  const [, token, isWithin, quoted] = unexpected

  const isWhole = quoted === text
  if (!isWhole && !isWithin) return quoted.length - QUOTED
  const [sought, before] = isWhole ? [token, 0] : [quoted, QUOTED]
  const head = text.slice(0, READ)
  let left = READ
  for (let at = head.indexOf(sought); at !== -1; at = head.indexOf(sought, at + 1)) {
    const end = at + before + 1
    left -= end + TRY
    if (left < 0) return undefined
    if (isUnexpected(text.slice(0, end))) return end - 1
  }
}

/** Index of the first character that is no blank. A pattern with what follows would try each of them again. */
function firstOf (text) {
  const at = text.search(/[^ \t\n\r]/)
  return at === -1 ? text.length : at
}

function isUnexpected (text) {
  try {
    JSON.parse(text)
  } catch (err) {
    return err.message.startsWith('Unexpected token')
  }
  return false
}

function lineOf (text, at) {
  let line = 1
  let begin = 0
  for (let i = 0; i < at; i++) {
    if (text.charCodeAt(i) !== 10) continue
    line++
    begin = i + 1
  }
  return `line ${line}, column ${at - begin + 1}`
}
