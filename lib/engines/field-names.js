'use strict'

const { LONGEST_NAME, detach, intern } = require('../shared/text')

/**
 * Checks the names and values of the header fields that the app sets. Names come from code, so they repeat, and most
 * values do, too: a checked name and its last value are remembered.
 */

/** Fields that change framing or what node adds: node's own code writes them. */
const UNUSUAL = new Set(['connection', 'transfer-encoding', 'date', 'expect', 'trailer', 'keep-alive', 'cookie'])

/** Node remembers that these were removed and does not add its own: a bit for each. */
const REMOVED = { __proto__: null, 'content-length': 1, 'transfer-encoding': 2, connection: 4, date: 8 }

/** Longest value that is remembered, in characters; enough for the Content-Security-Policy that packages set. */
const SHORT = 512

class FieldName {
  constructor (text) {
    this.text = text
    this.key = text.toLowerCase()
    this.id = ids.get(this.key) ?? this.key
    this.isUnusual = UNUSUAL.has(this.key)
    this.removal = REMOVED[this.key] ?? 0
    this.last = undefined // the last valid value
    this.lastLine = ''    //   and its line, once it was set again
  }

  /** Can the front send this value unchanged? */
  accepts (value) {
    if (value === this.last && value !== undefined) {
      if (this.lastLine === '') this.lastLine = detach(`${this.text}: ${value}\r\n`)
      return true
    }
    if (!isPlain(value)) return false
    if (typeof value === 'string' && value.length <= SHORT) {
      this.last = value
      this.lastLine = ''
    }
    return true
  }

  /** @return {string} the line of the header section, with its CRLF */
  line (value) {
    if (value === this.last && this.lastLine !== '') return this.lastLine
    return this.text + ': ' + value + '\r\n'
  }
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const NOT_ASCII = /[^\t\x20-\x7e]/

/** Name as spelled → FieldName. Bounded, because an app may use names that a client sent. */
const names = new Map()
const MAX_NAMES = 1024

/**
 * Key → the number of all FieldNames with it, because a response compares each name that it gets with all that it has,
 * and numbers compare faster (14 fields: 0.2 µs). A key that is in no remembered name is its own id.
 */
const ids = new Map()

/**
 * @param {*} name
 * @return {FieldName|undefined} undefined for names that node rejects, or puts first because they are integers
 */
function fieldName (name) {
  return names.get(name) ?? learn(name)
}

function learn (name) {
  if (typeof name !== 'string' || !TOKEN.test(name) || /^\d+$/.test(name)) return undefined
  if (names.size >= MAX_NAMES || name.length > LONGEST_NAME) return new FieldName(name)
  name = intern(name)
  const key = name.toLowerCase()
  if (!ids.has(key)) ids.set(key, ids.size)
  const known = new FieldName(name)
  names.set(name, known)
  return known
}

/**
 * Only ASCII, because node encodes other characters in a way that depends on the body.
 *
 * @param {*} value
 * @return {boolean}
 */
function isPlain (value) {
  if (typeof value === 'string') return !NOT_ASCII.test(value)
  if (typeof value === 'number') return true
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every(one => typeof one === 'string' && !NOT_ASCII.test(one))
}

module.exports = { REMOVED, FieldName, fieldName, isPlain }
