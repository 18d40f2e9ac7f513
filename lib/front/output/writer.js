'use strict'

const { STATUS_CODES } = require('http')
const { byteLength } = require('../../shared/text')
const { currentDate, setTimeout } = require('../../shared/timers')

/**
 * Builds the header section of a response, in node's order: the app's fields, Date, Connection, Keep-Alive, and
 * Content-Length or Transfer-Encoding if the app set no length.
 */

/** The length of a body that is sent in chunks. */
const CHUNKED = -2

/** The length of a body that node's code must send or reject. */
const NOT_PLAIN = -3

/** @return {number} of a body in bytes, or NOT_PLAIN */
function lengthOf (body) {
  if (body === undefined || body === null || body === '') return 0
  if (typeof body === 'string') return byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : NOT_PLAIN
}

/** Status → its usual phrase and line. An app may change http.STATUS_CODES. */
const usual = []

/**
 * @param {number} status
 * @param {string|undefined} message
 * @param {Array} fields FieldName, value, FieldName, value, …
 * @param {string} common Date, Connection and Keep-Alive, see keepAlive() and close()
 * @param {number} length of the body in bytes, CHUNKED, or -1 when there cannot be one
 * @return {string}
 */
function header (status, message, fields, common, length) {
  const phrase = message || STATUS_CODES[status] || 'unknown'
  let text = usual[status]?.phrase === phrase ? usual[status].line : `HTTP/1.1 ${status} ${phrase}\r\n`
  if (usual[status] === undefined && phrase === STATUS_CODES[status]) usual[status] = { phrase, line: text }
  let hasLength = false
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]
    const value = fields[i + 1]
    if (name.key === 'content-length') hasLength = true
    if (Array.isArray(value)) for (const one of value) text += name.line(one)
    else text += name.line(value)
  }
  if (hasLength || length === -1) return text + common + '\r\n'
  if (length === CHUNKED) return text + common + 'Transfer-Encoding: chunked\r\n\r\n'
  return text + common + 'Content-Length: ' + length + '\r\n\r\n'
}

// The date changes once a second, and with it the lines that contain it.
let date = ''
let closing = ''
let keeping = ''
let keepingTimeout = -1

function now () {
  const time = currentDate()
  date = `Date: ${time.toUTCString()}\r\n`
  closing = keeping = ''
  setTimeout(forget, 1000 - time.getMilliseconds()).unref()
}

function forget () {
  date = ''
}

/** @param {number} timeout server.keepAliveTimeout in ms */
function keepAlive (timeout) {
  if (date === '') now()
  if (keeping === '' || timeout !== keepingTimeout) {
    keepingTimeout = timeout
    keeping = `${date}Connection: keep-alive\r\n`
    if (timeout) keeping += `Keep-Alive: timeout=${Math.floor(timeout / 1000)}\r\n`
  }
  return keeping
}

function close () {
  if (date === '') now()
  return (closing ||= `${date}Connection: close\r\n`)
}

module.exports = { CHUNKED, NOT_PLAIN, lengthOf, header, keepAlive, close }
