'use strict'

const iconv = require('iconv-lite')

// iconv-lite reads these too, but they are not charsets
const NOT_CHARSETS = /^(?:base64|hex|binary)$/i

/**
 * Whether text of this charset can be read.
 *
 *    isCharset('latin1')   // true
 *
 * @param {*} name
 * @return {boolean}
 */
exports.isCharset = name =>
  typeof name === 'string' && !NOT_CHARSETS.test(name) && iconv.encodingExists(name)

exports.isUtf8 = isUtf8

/**
 * The text of some bytes, without a byte order mark.
 *
 * @param {Buffer} bytes
 * @param {string} charset
 * @return {string}
 */
exports.decode = function (bytes, charset) {
  if (!isUtf8(charset)) return iconv.decode(bytes, charset)
  const text = bytes.toString()
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/**
 * Undo the percent-encoding of a form: it is of bytes, and these bytes are in the form's charset.
 *
 *    unescape('gr%FCn+1', 'latin1')   // 'grün 1'
 *
 * @param {string} text
 * @param {string} charset
 * @return {string}
 */
exports.unescape = function (text, charset) {
  const escaped = iconv.encode(text.replaceAll('+', ' '), charset).toString('latin1')
  const raw = escaped.replace(/%([0-9a-f]{2})/gi, (match, hex) => String.fromCharCode(parseInt(hex, 16)))
  return iconv.decode(Buffer.from(raw, 'latin1'), charset)
}

function isUtf8 (charset) {
  return charset === 'utf-8' || charset === 'utf8'
}
