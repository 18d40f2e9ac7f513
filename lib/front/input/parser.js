'use strict'

const { Buffer } = require('buffer')
const { detachFrom, trim, isBlank, HOST } = require('../../shared/text')
const { HeaderSection, NO_LENGTH, CHUNKED } = require('./headers')

/**
 * The parser: does `text` hold a plain request line and header section at this offset?
 *
 * It returns the offset after the header section, INCOMPLETE (all lines so far are valid, the empty one is missing)
 * or UNSUPPORTED (anything else, for node's own parser). It accepts less than node's parser, never more:
 *
 *     request-line = method SP target SP ( "HTTP/1.1" / "HTTP/1.0" ) CRLF
 *     section      = 1*( field CRLF ) CRLF
 *     method       = "GET" / "HEAD" / "POST" / "PUT" / "PATCH" / "DELETE" / "OPTIONS"
 *     target       = "/" *( %x21-7E )
 *     field        = token ":" *( HTAB / %x20-7E / %x80-FF )
 *
 * with exactly one Host, which is not empty and has only characters of a host, at most one of Content-Length (digits
 * without leading zeros) and Transfer-Encoding (`chunked` alone), and without Expect. Upgrade must be that of a
 * handshake, a GET of HTTP/1.1 without a body for a WebSocket. HTTP/1.0 needs no Host, and ignores Expect. Text is
 * latin1, so a character is a byte.
 */

/** What parse() returns other than an offset. */
const INCOMPLETE = 0
const UNSUPPORTED = -1

const LF = 10
const CR = 13
const SP = 32
const ZERO = 48
const NINE = 57
const COLON = 58
const DEL = 127

/** The most frequent methods come first. */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']
const LONGEST_METHOD = 'OPTIONS '.length

/** Bytes that a section in pieces may keep in memory beside its own, and the least that it allocates. */
const SPARE = 256

const VERSION = ' HTTP/1.1\r\n'
const OLD_VERSION = ' HTTP/1.0\r\n'
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const VALUE = '[\\t\\x20-\\x7e\\x80-\\xff]'

// Sticky and without captures: one pass in native code over all lines that are complete.
const FIELDS = new RegExp(`(?:${TOKEN}+:${VALUE}*\\r\\n)*`, 'y')
const KEEP_ALIVE = / *keep-alive\r/iy
const HOST_VALUE = new RegExp(`[ \\t]*${HOST}+[ \\t]*\\r`, 'y')
const ONLY_CHUNKED = /[ \t]*chunked *\r/iy
const WEBSOCKET = / *websocket *\r/iy

/** Sizes in bytes. Only a section longer than its number of shortest fields can hold too many of them. */
const SHORTEST_FIELD = 'a:\r\n'.length
const SEPARATORS = ':\r\n'.length
const EMPTY_LINE = '\r\n'.length

/** The result of the last parse() that found a request; read it before the next call. */
const found = { method: '', url: '', section: null }

/**
 * Parse one header section of `text`, from `at` on.
 *
 *    const end = parse(text, 0, null, 16384, 1000)
 *    if (end > 0) use(found.method, found.url, found.section)
 *
 * @param {string} text latin1
 * @param {number} at offset of the request line
 * @param {HeaderSection|null} previous of this connection's previous request
 * @param {number} maxSize bytes; a section as long as this, as node counts, is unsupported
 * @param {number} maxFields a section with more fields is unsupported
 * @return {number} offset after the empty line, or INCOMPLETE or UNSUPPORTED
 */
function parse (text, at, previous, maxSize, maxFields) {
  let target = at + 4
  if (text.startsWith('GET /', at)) found.method = 'GET' // a constant, because V8 compares its characters without a call
  else if ((target = method(text, at)) === UNSUPPORTED) return requestLine(text, at)

  let behind = target
  for (let code; (code = text.charCodeAt(behind)) > SP && code < DEL;) behind++
  const minor = text.startsWith(VERSION, behind) ? 1 : text.startsWith(OLD_VERSION, behind) ? 0 : UNSUPPORTED
  if (minor === UNSUPPORTED) return requestLine(text, at)
  const fields = behind + VERSION.length

  // Equal bytes were accepted before. Comparing is as safe as scanning, and five times as fast.
  if (previous !== null && previous.minor === minor) {
    const end = fields + previous.text.length
    if (end - at < maxSize && text.slice(fields, end) === previous.text) {
      found.url = detachFrom(text, text.slice(target, behind))
      found.section = previous
      if (!previous.repeats) previous.repeat()
      return end
    }
  }

  const end = behindFields(text, fields)
  if (end <= 0) return end
  if (end - at >= maxSize && weight(text, target, fields, end) >= maxSize) return UNSUPPORTED
  if (end - fields > maxFields * SHORTEST_FIELD && count(text, fields, end) > maxFields) return UNSUPPORTED
  found.url = detachFrom(text, text.slice(target, behind))
  return frame(text, fields, end, minor)
}

/** Set found.method and return the offset of the target. */
function method (text, at) {
  for (const name of METHODS) {
    if (!text.startsWith(name, at)) continue
    found.method = name
    const target = at + name.length + 1
    return text.startsWith(' /', target - 1) ? target : UNSUPPORTED
  }
  return UNSUPPORTED
}

/** Reads the few fields that decide about framing, found by their first letter. */
function frame (text, fields, end, minor) {
  let hosts = 0
  let length = NO_LENGTH
  const wanted = minor === 1 ? 'close' : 'keep-alive' // the member of Connection that matters
  let isWanted = false
  let namesHost = true
  let connection = ''
  let isHandshake = false

  for (let i = fields; text.charCodeAt(i) !== CR; i = text.indexOf('\n', i) + 1) {
    switch (text.charCodeAt(i) | 0x20) {
      case 104: // h
        if (!named(text, i, 'host')) break
        HOST_VALUE.lastIndex = i + 5
        if (hosts++ > 0 || !HOST_VALUE.test(text)) return UNSUPPORTED
        break
      case 99: // c
        if (named(text, i, 'connection')) {
          KEEP_ALIVE.lastIndex = i + 11
          if (KEEP_ALIVE.test(text)) {
            isWanted ||= minor === 0
          } else {
            const value = text.slice(i + 11, text.indexOf('\r', i))
            if (value.includes('\t')) return UNSUPPORTED // node's versions differ here
            isWanted ||= lists(value, wanted)
            connection = value
          }
        } else if (named(text, i, 'content-length')) {
          if (length !== NO_LENGTH) return UNSUPPORTED
          length = digits(text, i + 15)
          if (length === UNSUPPORTED) return UNSUPPORTED
        }
        break
      case 116: // t
        if (!named(text, i, 'transfer-encoding')) break
        ONLY_CHUNKED.lastIndex = i + 18
        if (length !== NO_LENGTH || !ONLY_CHUNKED.test(text)) return UNSUPPORTED
        length = CHUNKED
        break
      case 101: // e
        if (minor === 1 && named(text, i, 'expect')) return UNSUPPORTED
        break
      case 117: // u
        if (!named(text, i, 'upgrade')) break
        WEBSOCKET.lastIndex = i + 8
        if (isHandshake || minor === 0 || found.method !== 'GET' || !WEBSOCKET.test(text)) return UNSUPPORTED
        isHandshake = true
        break
      case 112: // p
        if (named(text, i, 'proxy-connection')) {
          const value = text.slice(i + 17, text.indexOf('\r', i))
          if (value.includes('\t')) return UNSUPPORTED
          isWanted ||= lists(value, wanted)
        }
        break
      case 120: // x
        if (!named(text, i, 'x-forwarded-host')) break
        HOST_VALUE.lastIndex = i + 17
        namesHost &&= HOST_VALUE.test(text)
        break
    }
  }

  if (hosts < minor) return UNSUPPORTED
  if (isHandshake && (isWanted || length !== NO_LENGTH || !lists(connection, 'upgrade'))) return UNSUPPORTED
  const closes = isHandshake || isWanted === (minor === 1)
  const all = detachFrom(text, text.slice(fields, end))
  found.section = new HeaderSection(all, length, closes, minor, namesHost, isHandshake)
  return end
}

function named (text, at, name) {
  const colon = at + name.length
  return text.charCodeAt(colon) === COLON && text.slice(at, colon).toLowerCase() === name
}

/** Is `name` a member of this list? */
function lists (value, name) {
  return value.split(',').some(member => trim(member).toLowerCase() === name)
}

/** The number after `Content-Length:`, with blanks around it, if a double holds it exactly. */
function digits (text, at) {
  while (isBlank(text.charCodeAt(at))) at++
  let number = 0
  let i = at
  for (let code; (code = text.charCodeAt(i)) >= ZERO && code <= NINE; i++) number = number * 10 + code - ZERO
  const count = i - at
  while (text.charCodeAt(i) === SP) i++
  if (count === 0 || text.charCodeAt(i) !== CR || number > Number.MAX_SAFE_INTEGER) return UNSUPPORTED
  return count > 1 && text.charCodeAt(at) === ZERO ? UNSUPPORTED : number
}

/** Size as node counts it: target, names and values. Counts blanks around values, too, to be on the safe side. */
function weight (text, target, fields, end) {
  return end - target - VERSION.length - EMPTY_LINE - SEPARATORS * count(text, fields, end)
}

function count (text, at, end) {
  let lines = -1 // the empty line is not one
  while (at < end) {
    at = text.indexOf('\n', at) + 1
    lines++
  }
  return lines
}

/** Checks a request line that is not a plain one: only its method, until the line ends. */
function requestLine (text, at) {
  if (text.includes('\n', at)) return UNSUPPORTED
  const start = text.slice(at, at + LONGEST_METHOD)
  const isGood = METHODS.some(name => `${name} `.startsWith(start) || start.startsWith(`${name} `))
  return isGood ? INCOMPLETE : UNSUPPORTED
}

/** Checks the fields from here on. @return {number} offset after the empty line, or INCOMPLETE or UNSUPPORTED */
function behindFields (text, at) {
  FIELDS.lastIndex = at
  FIELDS.test(text)
  const end = FIELDS.lastIndex
  if (text.startsWith('\r\n', end)) return end + EMPTY_LINE
  return text.includes('\n', end) ? UNSUPPORTED : INCOMPLETE
}

/** A header section that arrives in pieces: each of its lines is checked once, when it is complete. */
class Partial {
  /** @param {Buffer} bytes for which parse() returned INCOMPLETE */
  constructor (bytes) {
    this.buffer = bytes                   // with more space once there is a second piece
    this.size = bytes.length
    this.line = bytes.lastIndexOf(LF) + 1 // offset of the line that is not complete
    if (bytes.buffer.byteLength - this.size > SPARE) this.grow(this.size) // the read is much larger
  }

  get bytes () { return this.buffer.subarray(0, this.size) }

  /** @return {number} INCOMPLETE, UNSUPPORTED, or, once parse() can read all of it, more */
  add (piece) {
    const { line, size } = this
    this.size += piece.length
    if (this.size > this.buffer.length) this.grow(size)
    piece.copy(this.buffer, size)
    const end = piece.lastIndexOf(LF) + 1
    if (end > 0 && line === 0) return this.size
    if (end > 0) this.line = size + end
    else if (line > 0 || size >= LONGEST_METHOD) return INCOMPLETE
    const text = this.buffer.latin1Slice(line, this.size)
    return line > 0 ? behindFields(text, 0) : requestLine(text, 0)
  }

  grow (used) {
    const { buffer } = this
    this.buffer = Buffer.allocUnsafeSlow(Math.max(SPARE, 2 * used, this.size))
    buffer.copy(this.buffer, 0, 0, used)
  }
}

module.exports = { Partial, parse, found, INCOMPLETE, UNSUPPORTED }
