'use strict'

const { LONGEST_NAME, detachFrom, intern, trim } = require('../../shared/text')

/** In place of a Content-Length. */
const NO_LENGTH = -1
const CHUNKED = -2

/**
 * The header section of a request that the parser accepted. Returns one field, all fields as node's `headers` object,
 * or the raw fields. The rules for repeated fields are node's (https://nodejs.org/api/http.html#messageheaders).
 *
 * There is one object per section, not per request: a connection that repeats its section byte for byte (most do)
 * reuses the object.
 */
class HeaderSection {
  /**
   * @param {string} text the fields and the empty line, each with its CRLF
   * @param {number} contentLength in bytes, NO_LENGTH, or CHUNKED for `Transfer-Encoding: chunked`
   * @param {boolean} closes `Connection: close`, or HTTP/1.0 without `Connection: keep-alive`
   * @param {number} minor of the version: 1 or 0
   * @param {boolean} namesHost Host and X-Forwarded-Host have only characters of a host
   * @param {boolean} isHandshake `Upgrade: websocket`: a response other than 101 is the last one
   */
  constructor (text, contentLength, closes, minor, namesHost, isHandshake) {
    this.text = text
    this.contentLength = contentLength
    this.closes = closes
    this.minor = minor
    this.namesHost = namesHost
    // May the response be sent in chunks? Otherwise one without a length ends with the connection.
    this.takesChunks = minor === 1 || TAKES_CHUNKS.test(find(text, 'te', false))
    this.isHandshake = isHandshake
    this.repeats = false
    this.values = null // name → value, of the fields that were read from a repeated section
    this.raw = null
  }

  /** The section was repeated: from now on values are remembered (saves 0.06 to 0.2 µs for each, raw fields 1 µs). */
  repeat () {
    this.repeats = true
  }

  /**
   * One field, as `headers(joins)[name]` would give it, without building the object.
   *
   *    section.field('user-agent', false)
   */
  field (name, joins) {
    if (!this.repeats || joins) return find(this.text, name, joins)
    this.values ??= new Map()
    let value = this.values.get(name)
    if (value !== undefined || this.values.has(name)) return value
    value = find(this.text, name, false)
    const lookup = lookups.get(name)
    if (lookup !== undefined && this.values.size < MAX_VALUES) this.values.set(lookup.name, value)
    return value
  }

  /** A new object, as node's `req.headers` would be. `joins`: server.joinDuplicateHeaders. */
  headers (joins) {
    return headers(this.text, joins)
  }

  /** Names and values in turn, as they were sent. A new list each time, because an app may change it. */
  rawHeaders () {
    if (!this.repeats) return list(this.text)
    this.raw ??= list(this.text)
    return this.raw.slice()
  }
}

/** Of `TE`, as node tests it. */
const TAKES_CHUNKS = /(?:^|\W)chunked(?:$|\W)/i

/** Values that are remembered of a repeated section. */
const MAX_VALUES = 16

/** Names of fields of which only the first one counts. */
const FIRST_WINS = new Set([
  'age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
  'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards',
  'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent'
])

// Sticky: field after field, up to the empty line.
const FIELD = /([^:\r\n]+):([^\r]*)\r\n/y

/** name → { name, pattern, first }. Names come from code, not from the client; the map is bounded all the same. */
const lookups = new Map()
const MAX_LOOKUPS = 256

function headers (text, joins) {
  const all = {}
  FIELD.lastIndex = 0
  for (let match; (match = FIELD.exec(text)) !== null;) {
    const name = match[1].toLowerCase()
    const value = valueOf(match[2], text)
    if (name === 'set-cookie') {
      if (all[name] === undefined) all[name] = [value]
      else all[name].push(value)
    } else if (FIRST_WINS.has(name)) {
      if (all[name] === undefined) all[name] = value
      else if (joins) all[name] += ', ' + value
    } else if (typeof all[name] === 'string') {
      all[name] += (name === 'cookie' ? '; ' : ', ') + value
    } else {
      all[name] = value
    }
  }
  return all
}

function find (text, name, joins) {
  // a list; and V8 keeps long patterns
  if (name === 'set-cookie' || name.length > LONGEST_NAME) return headers(text, joins)[name]
  const lookup = lookups.get(name) || prepare(name)
  if (lookup === null) return undefined

  const { pattern } = lookup
  pattern.lastIndex = 0
  const match = pattern.exec(text)
  if (match === null) return undefined
  let value = valueOf(match[1], text)
  if (lookup.first && !joins) return value

  const separator = name === 'cookie' ? '; ' : ', '
  for (let again; (again = pattern.exec(text)) !== null;) value += separator + valueOf(again[1], text)
  return value
}

function prepare (name) {
  // No field can have a name that is not a token in lower case; `__proto__` is lost in node's object.
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) || name === '__proto__') return null
  const literal = name.replace(/[$*+.^|]/g, '\\$&')
  const pattern = new RegExp(`(?:^|\\n)${literal}:([^\\r]*)`, 'gi')
  const lookup = { name: intern(name), pattern, first: FIRST_WINS.has(name) }
  if (lookups.size < MAX_LOOKUPS) lookups.set(lookup.name, lookup)
  return lookup
}

function valueOf (value, text) {
  return detachFrom(text, trim(value))
}

function list (text) {
  const raw = []
  FIELD.lastIndex = 0
  for (let match; (match = FIELD.exec(text)) !== null;) raw.push(match[1], valueOf(match[2], text))
  return raw
}

module.exports = { HeaderSection, NO_LENGTH, CHUNKED }
