'use strict'

const iconv = require('iconv-lite')

// iconv-lite reads these too. The first three are not charsets; text in UTF-7 has other characters for a
// filter than for its reader, so that browsers and the HTML standard refuse it.
const REFUSED = /^(?:base64|hex|binary|(?:unicode11)?utf7(?:imap)?)$/

/**
 * Whether text of this charset can be read.
 *
 *    isCharset('latin1')   // true
 *
 * @param {*} name
 * @return {boolean}
 */
exports.isCharset = name =>
  typeof name === 'string' && !REFUSED.test(plain(name)) && iconv.encodingExists(name)

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

/** As iconv-lite compares names: `UTF-7` is `utf_7`. */
function plain (name) {
  return name.toLowerCase().replace(/:\d{4}$|[^0-9a-z]/g, '')
}

function isUtf8 (charset) {
  return charset === 'utf-8' || charset === 'utf8'
}
