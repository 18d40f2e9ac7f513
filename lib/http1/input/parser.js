'use strict'

const detach = require('../detach')
const { HeaderSection, isBlank } = require('./headers')
const { Partial, TOKEN, VALUE, VERSION } = require('./partial')

/**
 * The parser: does `text` hold a plain request line and header section at this offset?
 *
 * It returns the offset after the header section, INCOMPLETE (all bytes so far are valid, the empty line is missing)
 * or UNSUPPORTED (anything else, for node's own parser). It accepts less than node's parser, never more:
 *
 *     request-line = method SP target SP "HTTP/1.1" CRLF
 *     section      = 1*( field CRLF ) CRLF
 *     method       = "GET" / "HEAD" / "POST" / "PUT" / "PATCH" / "DELETE" / "OPTIONS"
 *     target       = "/" *( %x21-7E )
 *     field        = token ":" *( HTAB / %x20-7E / %x80-FF )
 *
 * with exactly one non-empty Host, at most one Content-Length (digits without leading zeros), and without
 * Transfer-Encoding, Expect and Upgrade. Text is latin1, so a character is a byte.
 */

/** What parse() returns other than an offset. */
const INCOMPLETE = 0
const UNSUPPORTED = -1

const CR = 13
const SP = 32
const SLASH = 47
const ZERO = 48
const NINE = 57
const COLON = 58
const DEL = 127

// Sticky and without captures: one pass in native code over the whole section.
const FIELDS = new RegExp(`(?:${TOKEN}+:${VALUE}*\\r\\n)+\\r\\n`, 'y')
const KEEP_ALIVE = / *keep-alive\r/iy

/** The shortest field is four bytes, `a:` CRLF: only a longer section can hold too many of them. */
const SHORTEST_FIELD = 4

/** How much longer than a part the read may be that the part keeps in memory, in bytes. */
const SPARE = 256

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
  const target = method(text, at)
  if (target === UNSUPPORTED) return incomplete(text, at, maxFields)

  let behind = target
  for (let code; (code = text.charCodeAt(behind)) > SP && code < DEL;) behind++
  if (!text.startsWith(VERSION, behind)) return incomplete(text, at, maxFields)
  const fields = behind + VERSION.length

  // Equal bytes were accepted before. Comparing is as safe as scanning, and five times as fast.
  if (previous !== null) {
    const end = fields + previous.text.length
    if (end - at < maxSize && text.slice(fields, end) === previous.text) {
      found.url = own(text.slice(target, behind), text)
      found.section = previous
      previous.repeat()
      return end
    }
  }

  FIELDS.lastIndex = fields
  if (!FIELDS.test(text)) return incomplete(text, at, maxFields)
  const end = FIELDS.lastIndex
  if (end - at >= maxSize && weight(text, target, fields, end) >= maxSize) return UNSUPPORTED
  if (end - fields > maxFields * SHORTEST_FIELD && count(text, fields, end) > maxFields) return UNSUPPORTED
  found.url = own(text.slice(target, behind), text)
  return frame(text, fields, end)
}

/** Detaches a part that an app or the connection may keep, so that the rest of the read can be freed. */
function own (part, text) {
  return text.length - part.length > SPARE ? detach(part) : part
}

/** Set found.method and return the offset of the target. */
function method (text, at) {
  let end = at
  switch (text.charCodeAt(at)) {
    case 71: // G
      if (!text.startsWith('GET ', at)) return UNSUPPORTED
      found.method = 'GET'
      end += 4
      break
    case 72: // H
      if (!text.startsWith('HEAD ', at)) return UNSUPPORTED
      found.method = 'HEAD'
      end += 5
      break
    case 80: // P
      if (text.startsWith('POST ', at)) {
        found.method = 'POST'
        end += 5
      } else if (text.startsWith('PUT ', at)) {
        found.method = 'PUT'
        end += 4
      } else if (text.startsWith('PATCH ', at)) {
        found.method = 'PATCH'
        end += 6
      } else {
        return UNSUPPORTED
      }
      break
    case 68: // D
      if (!text.startsWith('DELETE ', at)) return UNSUPPORTED
      found.method = 'DELETE'
      end += 7
      break
    case 79: // O
      if (!text.startsWith('OPTIONS ', at)) return UNSUPPORTED
      found.method = 'OPTIONS'
      end += 8
      break
    default:
      return UNSUPPORTED
  }
  return text.charCodeAt(end) === SLASH ? end : UNSUPPORTED
}

/** Reads the few fields that decide about framing, found by their first letter. */
function frame (text, fields, end) {
  let hosts = 0
  let length = -1
  let close = false

  for (let i = fields; text.charCodeAt(i) !== CR; i = text.indexOf('\n', i) + 1) {
    switch (text.charCodeAt(i) | 0x20) {
      case 104: // h
        if (!named(text, i, 'host')) break
        if (hosts++ > 0 || blank(text, i + 5)) return UNSUPPORTED
        break
      case 99: // c
        if (named(text, i, 'connection')) {
          KEEP_ALIVE.lastIndex = i + 11
          if (!KEEP_ALIVE.test(text)) {
            const value = text.slice(i + 11, text.indexOf('\r', i))
            if (value.includes('\t')) return UNSUPPORTED // node's versions differ here
            close ||= closes(value)
          }
        } else if (named(text, i, 'content-length')) {
          if (length !== -1) return UNSUPPORTED
          length = digits(text, i + 15)
          if (length === UNSUPPORTED) return UNSUPPORTED
        }
        break
      case 116: // t
        if (named(text, i, 'transfer-encoding')) return UNSUPPORTED
        break
      case 101: // e
        if (named(text, i, 'expect')) return UNSUPPORTED
        break
      case 117: // u
        if (named(text, i, 'upgrade')) return UNSUPPORTED
        break
      case 112: // p
        if (named(text, i, 'proxy-connection')) {
          const value = text.slice(i + 17, text.indexOf('\r', i))
          if (value.includes('\t')) return UNSUPPORTED
          close ||= closes(value)
        }
        break
    }
  }

  if (hosts === 0) return UNSUPPORTED
  found.section = new HeaderSection(own(text.slice(fields, end), text), length, close)
  return end
}

function named (text, at, name) {
  const colon = at + name.length
  return text.charCodeAt(colon) === COLON && text.slice(at, colon).toLowerCase() === name
}

/** Is `close` a member of this list? Blanks are only SP and HTAB; trim() would remove U+00A0, too. */
function closes (value) {
  return value.split(',').some(member => {
    let start = 0
    let end = member.length
    while (start < end && isBlank(member.charCodeAt(start))) start++
    while (end > start && isBlank(member.charCodeAt(end - 1))) end--
    return member.slice(start, end).toLowerCase() === 'close'
  })
}

function blank (text, at) {
  while (text.charCodeAt(at) === SP) at++
  return text.charCodeAt(at) < SP
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
  return end - target - 11 - 2 - 3 * count(text, fields, end)
}

function count (text, at, end) {
  let lines = -1 // the empty line is not one
  while (at < end) {
    at = text.indexOf('\n', at) + 1
    lines++
  }
  return lines
}

/** Are these the first bytes of a supported request line and header section? */
function incomplete (text, at, maxFields) {
  const partial = new Partial(maxFields)
  return partial.accepts(text, at) && !partial.isComplete ? INCOMPLETE : UNSUPPORTED
}

module.exports = { parse, found, INCOMPLETE, UNSUPPORTED }
