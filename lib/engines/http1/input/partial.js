'use strict'

const { isBlank } = require('../../text')

const SP = 32
const ZERO = 48
const NINE = 57

/** Used by parse() and Partial. The most frequent methods come first. */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const VALUE = '[\\t\\x20-\\x7e\\x80-\\xff]'

const VERSION = ' HTTP/1.1\r\n'

const TARGET_PART = /[\x21-\x7e]*/y
const NAME_PART = new RegExp(`${TOKEN}*`, 'y')
const VALUE_PART = new RegExp(`${VALUE}*`, 'y')
const LONGEST_NAME = 'transfer-encoding'.length

/** Number of pieces that are joined, because a list of many short strings costs more than its characters. */
const MANY = 256

/** More digits than this may not fit into a double. */
const MOST_DIGITS = 15

/** States: what the next character belongs to. */
const METHOD = 0
const TARGET = 1
const LITERAL = 2
const LINE = 3
const NAME = 4
const FIELD_VALUE = 5
const LF = 6
const END = 7

/** States of Content-Length: not seen, blanks before the digits, digits, blanks after them, complete. */
const UNSEEN = 0
const BEFORE = 1
const DIGITS = 2
const AFTER = 3
const SEEN = 4
/** The same of Transfer-Encoding: its value has begun. SEEN stands for both, because only one of them may be there. */
const CODING = 5

const CHUNKED = 'chunked'

/** What a method returns instead of an offset. */
const UNSUPPORTED = -1

/**
 * A request line and header section that arrive in pieces, checked piece by piece: node rejects a bad byte before the
 * empty line is there, and a section sent byte by byte must not be read again from its start each time.
 *
 *    METHOD → TARGET → VERSION → LINE ⇄ NAME → FIELD_VALUE → LF → LINE …
 *                                  └─ CR → END
 */
class Partial {
  /** @param {number} maxFields node from 22.23 on rejects one more as soon as it begins */
  constructor (maxFields) {
    this.maxFields = maxFields
    this.pieces = []  // the last pieces
    this.parts = []   //   and the earlier ones, MANY joined at a time
    this.size = 0     // of all pieces, in bytes
    this.fields = 0
    this.state = METHOD
    this.word = ''    // the method so far
    this.index = 0    // characters of VERSION that were read
    this.name = ''    // of the field, as far as it matters
    this.length = UNSEEN
    this.digits = 0   // of Content-Length, or characters of Transfer-Encoding
    this.isComplete = false
  }

  /**
   * @param {string} piece latin1
   * @return {boolean} false once this cannot become a supported request any more
   */
  add (piece) {
    this.size += piece.length
    if (this.pieces.push(piece) === MANY) this.parts.push(this.pieces.splice(0).join(''))
    return this.accepts(piece, 0)
  }

  /** All pieces, joined. */
  get text () { return this.parts.join('') + this.pieces.join('') }

  /** Reads the next piece, which begins at `i`. Returns what add() does. */
  accepts (text, i) {
    while (i < text.length && !this.isComplete) {
      if (this.state === NAME) i = this.nameAt(text, i)
      else if (this.state === FIELD_VALUE) i = this.valueAt(text, i)
      else if (this.state === TARGET) i = this.targetAt(text, i)
      else if (this.character(text[i])) i++
      else if (this.state !== NAME) return false
      if (i === UNSUPPORTED) return false
    }
    return true
  }

  /** Reads one character. Returns false for a bad one, and for the first one of a name. */
  character (char) {
    switch (this.state) {
      case METHOD:
        if (char === ' ') this.state = TARGET
        else this.word += char
        return METHODS.some(name => this.state === TARGET ? name === this.word : name.startsWith(this.word))
      case LITERAL:
        if (char !== VERSION[this.index++]) return false
        if (this.index === VERSION.length) this.state = LINE
        return true
      case LINE:
        return this.startLine(char)
      case LF:
        this.state = LINE
        return char === '\n'
      case END:
        this.isComplete = true
        return char === '\n'
    }
  }

  startLine (char) {
    if (char === '\r') {
      this.state = END
      return true
    }
    this.name = ''
    if (++this.fields <= this.maxFields) this.state = NAME
    return false
  }

  targetAt (text, i) {
    if (this.index === 0 && text[i] !== '/') return UNSUPPORTED
    this.index = 1
    i = behind(TARGET_PART, text, i)
    if (i < text.length) {
      this.index = 0
      this.state = LITERAL
    }
    return i
  }

  nameAt (text, start) {
    const i = behind(NAME_PART, text, start)
    if (this.name.length <= LONGEST_NAME) this.name += text.slice(start, i)
    if (i === text.length) return i
    if (text[i] !== ':' || this.name === '' || !this.supports(this.name.toLowerCase())) return UNSUPPORTED
    this.state = FIELD_VALUE
    return i + 1
  }

  valueAt (text, start) {
    const i = behind(VALUE_PART, text, start)
    const isFraming = this.length !== UNSEEN && this.length !== SEEN
    if (isFraming && !this.isFraming(text, start, i)) return UNSUPPORTED
    if (i === text.length) return i
    if (text[i] !== '\r') return UNSUPPORTED
    if (isFraming) {
      if (this.digits < (this.length === CODING ? CHUNKED.length : 1)) return UNSUPPORTED
      this.length = SEEN
    }
    this.state = LF
    return i + 1
  }

  /** Fields that node must parse are unsupported at once, because node may reject one before the section ends. */
  supports (name) {
    switch (name) {
      case 'content-length':
        if (this.length !== UNSEEN) return false
        this.length = BEFORE
        return true
      case 'transfer-encoding':
        if (this.length !== UNSEEN) return false
        this.length = CODING
        return true
      case 'expect':
      case 'upgrade':
        return false
    }
    return true
  }

  isFraming (text, start, end) {
    return this.length === CODING ? this.isChunked(text, start, end) : this.isLength(text, start, end)
  }

  /** Checks the next characters of Content-Length, each once: `[ \t]*\d{1,15} *`. */
  isLength (text, start, end) {
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i)
      if (code >= ZERO && code <= NINE && this.length <= DIGITS) {
        this.length = DIGITS
        if (++this.digits > MOST_DIGITS) return false
      } else if (this.length === BEFORE && isBlank(code)) {
        continue
      } else if (this.length >= DIGITS && code === SP) {
        this.length = AFTER
      } else {
        return false
      }
    }
    return true
  }

  /** Checks the next characters of Transfer-Encoding, each once: `[ \t]*chunked *`. */
  isChunked (text, start, end) {
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i)
      const isAround = this.digits === 0 ? isBlank(code) : this.digits === CHUNKED.length && code === SP
      if (isAround) continue
      if (text[i].toLowerCase() !== CHUNKED[this.digits++]) return false
    }
    return true
  }
}

function behind (part, text, at) {
  part.lastIndex = at
  part.test(text)
  return part.lastIndex
}

module.exports = { Partial, METHODS, TOKEN, VALUE, VERSION }
