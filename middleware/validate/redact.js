'use strict'

// A library may print only the beginning of a longer string, so only this is searched for.
const LONG = 16
const MAX_LEAVES = 1000

/**
 * Remove from an issue's message the value that it is about. Libraries print it ("must be a number
 * (was "secret")"), and a response must not repeat a password into logs and error pages.
 *
 *    redact('Expected number but received "abc"', { a: 'abc' }, ['a'])
 *    // 'Expected number but received …'
 *
 * @param {string} message
 * @param {*} input what was validated
 * @param {Array} path where in the input the issue is
 * @return {string}
 * @api private
 */
module.exports = function redact (message, input, path) {
  const leaves = []
  if (!collect(valueAt(input, path), leaves)) return 'Invalid value'
  leaves.sort((a, b) => b.length - a.length) // one may contain another
  for (const text of leaves) {
    if (text.length > LONG) message = cut(message, text)
    // JSON escapes quotes and line breaks
    message = message.replaceAll(JSON.stringify(text), '…')
    message = replaceWhole(message, text)
  }
  return message
}

function valueAt (input, path) {
  let value = input
  for (const key of path) {
    if (Object(value) !== value || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

// The strings and numbers of a value; false when there are too many of them.
function collect (value, leaves) {
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string' ? one !== '' : typeof one === 'number' || typeof one === 'bigint') {
      if (leaves.push(String(one)) > MAX_LEAVES) return false
    } else if (Object(one) === one) {
      const inside = Object.values(one)
      if (inside.length > MAX_LEAVES) return false
      open.push(...inside)
      if (open.length > MAX_LEAVES) return false
    }
  }
  return true
}

function cut (message, text) {
  const begin = text.slice(0, LONG)
  const found = [begin, JSON.stringify(begin).slice(1, -1)]
    .map(part => message.indexOf(part))
    .filter(at => at !== -1)
  return found.length === 0 ? message : `${message.slice(0, Math.min(...found))}…`
}

// Where no letter or digit adjoins: the 1 of "was 1", not that of "at most 10".
function replaceWhole (message, text) {
  let from = 0
  for (;;) {
    const at = message.indexOf(text, from)
    if (at === -1) return message
    const end = at + text.length
    const adjoins = isWord(message[at - 1]) || isWord(message[end])
    if (!adjoins) message = `${message.slice(0, at)}…${message.slice(end)}`
    from = at + 1
  }
}

function isWord (char) {
  return char !== undefined && /[\p{L}\p{N}_]/u.test(char)
}
