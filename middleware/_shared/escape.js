'use strict'

// C0, DEL and C1 move a terminal's cursor or end the line; the quote ends a field of it
const UNSAFE = /["\\\x00-\x1f\x7f-\x9f]/ // eslint-disable-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/ // eslint-disable-line no-control-regex

/**
 * Text of a client, safe for a log and a terminal.
 *
 *    escape('a "b"\n')   // 'a \\"b\\"\\x0a'
 *
 * @param {string} text
 * @return {string}
 */
exports.escape = text => replace(text, UNSAFE)

/**
 * The same for a whole line, whose quotes are its own.
 *
 * @param {string} line
 * @return {string}
 */
exports.escapeControls = line => replace(line, CONTROL)

function replace (text, unsafe) {
  if (!unsafe.test(text)) return text
  return text.replace(new RegExp(unsafe, 'g'), char => {
    if (char === '"' || char === '\\') return '\\' + char
    return '\\x' + char.charCodeAt(0).toString(16).padStart(2, '0')
  })
}
