'use strict'

const { Buffer } = require('buffer')

const TAB = 9
const SP = 32

/** V8 copies shorter parts of a string; a longer one refers to the whole string and keeps it in memory. */
const SHORTEST_SLICE = 13

/** How much longer than a part the whole may be that the part keeps in memory, in characters. */
const SPARE = 256

/**
 * Copies a substring, so that the whole string can be freed: joining and slicing makes V8 copy the characters (44 ns, a
 * third of what a copy through a Buffer costs).
 *
 *    detach(text.slice(4, 40))
 */
function detach (part) {
  return part.length < SHORTEST_SLICE ? part : (' ' + part).slice(1)
}

/**
 * The copy of a text that V8 keeps of each property name. A detached part as the key of a Map makes Node 20 compare
 * characters (28 ns in place of 5 for each name that code looks up).
 *
 *    names.set(intern(name), value)
 */
function intern (text) {
  return Object.keys({ [text]: 0 })[0]
}

/** Longest text that `measure` keeps in memory, in characters. */
const KEPT = 1024 * 1024

let measured = ''
let size = 0

/** @return {number} bytes in UTF-8 of a body that is set: it is measured again when it is sent, see `byteLength` */
function measure (text) {
  const bytes = Buffer.byteLength(text)
  if (text.length <= KEPT) {
    measured = text
    size = bytes
  }
  return bytes
}

/** @return {number} the same. Only the last text is compared: most are that one, and V8 reads others to their end. */
function byteLength (text) {
  return text === measured ? size : measure(text)
}

/** Longest name of a field or a type that is remembered, in characters: longer ones are no app's own. */
const LONGEST_NAME = 100

/** Detaches a part that the app or the connection may keep, if it would keep much more than itself. */
function detachFrom (whole, part) {
  return whole.length - part.length > SPARE ? detach(part) : part
}

/** Without SP and HTAB around it; String's trim() removes U+00A0, too. A loop: a pattern would take quadratic time. */
function trim (text) {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank (code) {
  return code === SP || code === TAB
}

/**
 * A character of a host with a port (RFC 3986, 3.2.2), as a pattern: any other (white space, controls, 8 bits,
 * ``/ ? # @ \ < > " ^ { | } ` ``) would make another host or path of a URL that code joins from it.
 */
const HOST = '[!$-.0-:;=A-Z[\\]_a-z~]'

module.exports = { LONGEST_NAME, byteLength, detach, detachFrom, intern, measure, trim, isBlank, HOST }
