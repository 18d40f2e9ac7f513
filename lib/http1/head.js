'use strict'

/**
 * Header fields out of a header block that the parser found good: one field on demand, all of them as
 * node's `headers` object, or raw. The rules for repeated fields are node's
 * (https://nodejs.org/api/http.html#messageheaders).
 */

/** A repeated field of these names is dropped; the first one wins. */
const FIRST_WINS = new Set([
  'age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
  'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards',
  'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent'
])

const FIELD = /([^:\r\n]+):[ \t]*([^\r]*)\r\n/g
const BLANK_END = /[ \t]+$/

/** name → { pattern, first }; names come from code, not from the wire, and still the map is bounded. */
const lookups = new Map()
const MAX_LOOKUPS = 256

/**
 * One field, as `headers(block)[name]` would give it, without building the object.
 *
 *    field('Host: a\r\n\r\n', 'host', false) // 'a'
 *
 * @param {string} block
 * @param {string} name in lower case
 * @param {boolean} joins server.joinDuplicateHeaders
 * @return {string|string[]|undefined}
 */
function field (block, name, joins) {
  if (name === 'set-cookie') return headers(block, joins)[name] // a list
  const lookup = lookups.get(name) || prepare(name)
  if (lookup === null) return undefined

  const pattern = lookup.pattern
  pattern.lastIndex = 0
  const match = pattern.exec(block)
  if (match === null) return undefined
  let value = trimmed(match[1])
  if (lookup.first && !joins) return value

  const separator = name === 'cookie' ? '; ' : ', '
  for (let again; (again = pattern.exec(block)) !== null;) value += separator + trimmed(again[1])
  return value
}

function prepare (name) {
  // what is no token in lower case is no key that a field can make, and this one vanishes as on node
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) || name === '__proto__') return null
  const literal = name.replace(/[$*+.^|]/g, '\\$&')
  const pattern = new RegExp(`(?:^|\\n)${literal}:[ \\t]*([^\\r]*)`, 'gi')
  const lookup = { pattern, first: FIRST_WINS.has(name) }
  if (lookups.size < MAX_LOOKUPS) lookups.set(name, lookup)
  return lookup
}

// Only blanks at the end need work, and they are rare.
function trimmed (value) {
  const last = value.charCodeAt(value.length - 1)
  return last === 32 || last === 9 ? value.replace(BLANK_END, '') : value
}

/**
 * The object that node's `req.headers` would be.
 *
 * @param {string} block
 * @param {boolean} joins server.joinDuplicateHeaders
 * @return {Object<string, string|string[]>}
 */
function headers (block, joins) {
  const all = {}
  FIELD.lastIndex = 0
  for (let match; (match = FIELD.exec(block)) !== null;) {
    add(all, match[1].toLowerCase(), trimmed(match[2]), joins)
  }
  return all
}

function add (all, name, value, joins) {
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

/**
 * Names and values in turn, as they came: node's `rawHeaders`.
 *
 * @param {string} block
 * @return {string[]}
 */
function rawHeaders (block) {
  const raw = []
  FIELD.lastIndex = 0
  for (let match; (match = FIELD.exec(block)) !== null;) raw.push(match[1], trimmed(match[2]))
  return raw
}

module.exports = { field, headers, rawHeaders }
