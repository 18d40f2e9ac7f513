'use strict'

/**
 * The parser: is the next thing in `text` a plain request head?
 *
 * It answers with one of three verdicts: a *head* (the offset behind it), *more* (all bytes so far are
 * good, the blank line is not there yet) or *not mine* (anything else: whoever knows all of HTTP/1
 * shall read it). It accepts less than node's own parser, never more:
 *
 *     head         = method SP target SP "HTTP/1.1" CRLF 1*( field CRLF ) CRLF
 *     method       = "GET" / "HEAD" / "POST" / "PUT" / "PATCH" / "DELETE" / "OPTIONS"
 *     target       = "/" *( %x21-7E )
 *     field        = token ":" *( HTAB / %x20-7E / %x80-FF )
 *
 * with exactly one non-empty Host, at most one Content-Length (digits without leading zeros), and
 * without Transfer-Encoding, Expect and Upgrade. Text is latin1, so a character is a byte.
 */

const MORE = 0
const NOT_MINE = -1

const HTAB = 9
const CR = 13
const SP = 32
const SLASH = 47
const ZERO = 48
const NINE = 57
const COLON = 58
const DEL = 127

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const VALUE = '[\\t\\x20-\\x7e\\x80-\\xff]'

const VERSION = ' HTTP/1.1\r\n'

// Sticky and without captures: one pass in native code over the whole block.
const FIELDS = new RegExp(`(?:${TOKEN}+:${VALUE}*\\r\\n)+\\r\\n`, 'y')
const KEEP_ALIVE = / *keep-alive\r/iy

/** The shortest field is four bytes, `a:` CRLF: only a longer block can hold too many of them. */
const SHORTEST_FIELD = 4

/**
 * What a header block says about the message around it. One is made per block, not per request: a
 * connection that repeats its block word for word (most do) gets the same Head again.
 */
class Head {
  constructor (block, length, close) {
    this.block = block   // the fields and the blank line, each with its CRLF
    this.length = length // Content-Length in bytes, or -1
    this.close = close   // Connection: close
    this.repeats = false // it came more than once
    this.fields = null   //   and these of its fields were read: name → value
    this.raw = null      //   or all of them, for node's own object
  }
}

/** The result of the last parse() that found a head; read it before the next call. */
const found = { method: '', url: '', head: null }

/**
 * Look at `text` from `at` on.
 *
 *    const end = parse(text, 0, null, 16384, 1000)
 *    if (end > 0) use(found.method, found.url, found.head)
 *
 * @param {string} text latin1
 * @param {number} at offset of the request line
 * @param {Head|null} last head of this connection's previous request
 * @param {number} maxSize bytes; a head as long as this, as node counts, is not mine
 * @param {number} maxFields a block with more fields is not mine
 * @return {number} offset behind the blank line, or MORE or NOT_MINE
 */
function parse (text, at, last, maxSize, maxFields) {
  const target = method(text, at)
  if (target === NOT_MINE) return undecided(text, at, maxFields)

  let behind = target
  for (let code; (code = text.charCodeAt(behind)) > SP && code < DEL;) behind++
  if (!text.startsWith(VERSION, behind)) return undecided(text, at, maxFields)
  const fields = behind + VERSION.length
  found.url = text.slice(target, behind)

  // Equal bytes were found good before: the comparison is as safe as the scan and five times as fast.
  if (last !== null) {
    const end = fields + last.block.length
    if (end - at < maxSize && text.slice(fields, end) === last.block) {
      found.head = last
      last.repeats = true
      return end
    }
  }

  FIELDS.lastIndex = fields
  if (!FIELDS.test(text)) return undecided(text, at, maxFields)
  const end = FIELDS.lastIndex
  if (end - at >= maxSize && weight(text, target, fields, end) >= maxSize) return NOT_MINE
  if (end - fields > maxFields * SHORTEST_FIELD && count(text, fields, end) > maxFields) return NOT_MINE
  return frame(text, fields, end)
}

/** Set found.method and return the offset of the target. */
function method (text, at) {
  let end = at
  switch (text.charCodeAt(at)) {
    case 71: // G
      if (!text.startsWith('GET ', at)) return NOT_MINE
      found.method = 'GET'
      end += 4
      break
    case 72: // H
      if (!text.startsWith('HEAD ', at)) return NOT_MINE
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
        return NOT_MINE
      }
      break
    case 68: // D
      if (!text.startsWith('DELETE ', at)) return NOT_MINE
      found.method = 'DELETE'
      end += 7
      break
    case 79: // O
      if (!text.startsWith('OPTIONS ', at)) return NOT_MINE
      found.method = 'OPTIONS'
      end += 8
      break
    default:
      return NOT_MINE
  }
  return text.charCodeAt(end) === SLASH ? end : NOT_MINE
}

/** The few fields that decide about framing, by first letter; everything else is passed over. */
function frame (text, fields, end) {
  let hosts = 0
  let length = -1
  let close = false

  for (let i = fields; text.charCodeAt(i) !== CR; i = text.indexOf('\n', i) + 1) {
    switch (text.charCodeAt(i) | 0x20) {
      case 104: // h
        if (!named(text, i, 'host')) break
        if (hosts++ > 0 || blank(text, i + 5)) return NOT_MINE
        break
      case 99: // c
        if (named(text, i, 'connection')) {
          KEEP_ALIVE.lastIndex = i + 11
          if (!KEEP_ALIVE.test(text)) {
            const value = text.slice(i + 11, text.indexOf('\r', i))
            if (value.includes('\t')) return NOT_MINE // node's versions differ
            close ||= closes(value)
          }
        } else if (named(text, i, 'content-length')) {
          if (length !== -1) return NOT_MINE
          length = digits(text, i + 15)
          if (length === NOT_MINE) return NOT_MINE
        }
        break
      case 116: // t
        if (named(text, i, 'transfer-encoding')) return NOT_MINE
        break
      case 101: // e
        if (named(text, i, 'expect')) return NOT_MINE
        break
      case 117: // u
        if (named(text, i, 'upgrade')) return NOT_MINE
        break
      case 112: // p
        if (named(text, i, 'proxy-connection')) {
          const value = text.slice(i + 17, text.indexOf('\r', i))
          if (value.includes('\t')) return NOT_MINE
          close ||= closes(value)
        }
        break
    }
  }

  if (hosts === 0) return NOT_MINE
  found.head = new Head(text.slice(fields, end), length, close)
  return end
}

function named (text, at, name) {
  const colon = at + name.length
  return text.charCodeAt(colon) === COLON && text.slice(at, colon).toLowerCase() === name
}

/** Is `close` a member of this list? */
function closes (value) {
  return value.split(',').some(member => member.trim().toLowerCase() === 'close')
}

function blank (text, at) {
  while (text.charCodeAt(at) === SP) at++
  return text.charCodeAt(at) < SP
}

/** The number behind `Content-Length:`, blanks around it allowed, as long as a double holds it exactly. */
function digits (text, at) {
  while (text.charCodeAt(at) === SP || text.charCodeAt(at) === HTAB) at++
  let number = 0
  let i = at
  for (let code; (code = text.charCodeAt(i)) >= ZERO && code <= NINE; i++) number = number * 10 + code - ZERO
  const count = i - at
  while (text.charCodeAt(i) === SP) i++
  if (count === 0 || text.charCodeAt(i) !== CR || number > Number.MAX_SAFE_INTEGER) return NOT_MINE
  return count > 1 && text.charCodeAt(at) === ZERO ? NOT_MINE : number
}

/** Node counts the target, names and values; the blanks in values too, here, to be on the safe side. */
function weight (text, target, fields, end) {
  return end - target - 11 - 2 - 3 * count(text, fields, end)
}

function count (text, at, end) {
  let lines = -1 // the blank line is none
  while (at < end) {
    at = text.indexOf('\n', at) + 1
    lines++
  }
  return lines
}

/** No head: is it one that only lacks its end? */
function undecided (text, at, maxFields) {
  const prefix = new Prefix(maxFields)
  return prefix.accepts(text, at) && !prefix.complete ? MORE : NOT_MINE
}

const METHODS = ['GET ', 'HEAD ', 'POST ', 'PUT ', 'PATCH ', 'DELETE ', 'OPTIONS ']
const TARGET_PART = /[\x21-\x7e]*/y
const NAME_PART = new RegExp(`${TOKEN}*`, 'y')
const VALUE_PART = new RegExp(`${VALUE}*`, 'y')
const LENGTH_SO_FAR = /^[ \t]*\d{0,15} *$/
const LONGEST_NAME = 'transfer-encoding'.length

/**
 * A head that arrives in pieces, checked piece by piece: node answers a bad byte before the blank line
 * is there, and a head sent byte by byte must not be read again from its start each time.
 *
 *    METHOD → TARGET → VERSION → LINE ⇄ NAME → VALUE → LF → LINE …
 *                                  └─ CR → END
 */
const METHOD = 0
const PATH = 1
const LITERAL = 2
const LINE = 3
const NAME = 4
const FIELD_VALUE = 5
const LF = 6
const END = 7

class Prefix {
  /** @param {number} maxFields node from 22.23 on refuses one more as soon as it begins */
  constructor (maxFields) {
    this.maxFields = maxFields
    this.fields = 0
    this.state = METHOD
    this.word = ''   // the method so far, blank included
    this.index = 0   // how much of VERSION was there
    this.name = ''   // of the field, as far as it matters
    this.length = null // value of Content-Length
    this.complete = false
  }

  /**
   * @param {string} text the next piece, latin1
   * @param {number} i where it begins
   * @return {boolean} false once no request that is mine can begin so
   */
  accepts (text, i) {
    while (i < text.length && !this.complete) {
      const char = text[i]
      switch (this.state) {
        case METHOD:
          this.word += char
          if (!METHODS.some(word => word.startsWith(this.word))) return false
          if (char === ' ') this.state = PATH
          i++
          break
        case PATH:
          if (this.index === 0 && char !== '/') return false
          this.index = 1
          i = behind(TARGET_PART, text, i)
          if (i < text.length) {
            this.index = 0
            this.state = LITERAL
          }
          break
        case LITERAL:
          if (char !== VERSION[this.index++]) return false
          if (this.index === VERSION.length) this.state = LINE
          i++
          break
        case LINE:
          this.state = char === '\r' ? END : NAME
          if (this.state === NAME && ++this.fields > this.maxFields) return false
          this.name = ''
          if (char === '\r') i++
          break
        case NAME: {
          const start = i
          i = behind(NAME_PART, text, i)
          if (this.name.length <= LONGEST_NAME) this.name += text.slice(start, i)
          if (i === text.length) break
          if (text[i] !== ':' || this.name === '' || !this.welcomes(this.name.toLowerCase())) return false
          this.state = FIELD_VALUE
          i++
          break
        }
        case FIELD_VALUE: {
          const start = i
          i = behind(VALUE_PART, text, i)
          const done = i < text.length
          if (this.name === '' && !this.measures(text.slice(start, i), done)) return false
          if (!done) break
          if (text[i] !== '\r') return false
          this.state = LF
          i++
          break
        }
        case LF:
          if (char !== '\n') return false
          this.state = LINE
          i++
          break
        case END:
          if (char !== '\n') return false
          this.complete = true
      }
    }
    return true
  }

  /** A field that decides about framing goes to node at once: it may refuse it before the head ends. */
  welcomes (name) {
    switch (name) {
      case 'content-length':
        if (this.length !== null) return false
        this.name = ''
        this.length = ''
        return true
      case 'transfer-encoding':
      case 'expect':
      case 'upgrade':
        return false
    }
    return true
  }

  measures (part, done) {
    this.length += part
    return LENGTH_SO_FAR.test(this.length) && !(done && this.length.trim() === '')
  }
}

function behind (part, text, at) {
  part.lastIndex = at
  part.test(text)
  return part.lastIndex
}

module.exports = { parse, found, Head, Prefix, MORE, NOT_MINE }
