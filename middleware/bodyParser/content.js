'use strict'

const contentType = require('content-type')
const typeis = require('type-is')
const { isCharset } = require('./charset')

// Header values remembered, so that a usual one is parsed once per app, not once per request
const MAX_REMEMBERED = 100
const MAX_HEADER = 128 // characters; a longer one is parsed each time

// token "/" token, RFC 9110 8.3.1
const TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/

const READ = 'read'
const LEAVE = 'leave'
const REFUSE = 'refuse'

/**
 * What is done with a body, by its Content-Type:
 *
 *     { action: READ, parser, charset }
 *     { action: LEAVE }                    to another middleware
 *     { action: REFUSE, reason }           415
 */
class Contents {
  /**
   * @param {object[]} parsers
   * @param {string} charset of a type that names none
   */
  constructor (parsers, charset) {
    this.parsers = parsers
    this.charset = charset
    this.remembered = new Map()
  }

  /**
   * @param {string} header Content-Type, '' for none
   * @return {any} see above
   */
  of (header) {
    if (header === '') return { action: LEAVE }
    let content = this.remembered.get(header)
    if (content !== undefined) return content

    content = this.decide(header)
    if (this.remembered.size === MAX_REMEMBERED) this.remembered.clear()
    if (header.length < MAX_HEADER) this.remembered.set(header, content)
    return content
  }

  decide (header) {
    // one without `=` is no parameter: `application/json; utf-8` of senders that cannot be changed
    const value = header.replace(/;[^;="]*(?=;|$)/g, '')
    const type = value.split(';', 1)[0].trim()
    if (!TYPE.test(type)) return { action: REFUSE, reason: 'malformed content type' }

    // the parameters of a type that is left to others are theirs to judge
    const parser = this.parsers.find(({ types }) => typeis.is(type, types))
    if (parser === undefined) return { action: LEAVE }

    let parameters
    try {
      parameters = contentType.parse(value).parameters
    } catch {
      return { action: REFUSE, reason: 'malformed content type' }
    }
    const charset = (parameters.charset || this.charset).toLowerCase()
    if (!isCharset(charset)) return { action: REFUSE, reason: `unsupported charset "${charset}"` }
    return { action: READ, parser, charset }
  }

  /** Read by this parser whatever the type is, in the charset that it names. */
  readBy (parser, header) {
    const { action, charset } = this.of(header)
    return { action: READ, parser, charset: action === READ ? charset : this.charset }
  }
}

module.exports = { Contents, READ, LEAVE, REFUSE }
