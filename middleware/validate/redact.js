'use strict'

// A library may print only the beginning of a longer string, so only this is searched for.
const LONG = 16
const MAX_LEAVES = 1000
const MAX_MESSAGE = 300 // characters: a library prints keys of any length

/**
 * Remove from the messages of one input's issues the values that they are about. Libraries print them
 * ("must be a number (was "secret")"), and a response must not repeat a password into logs and error
 * pages. The cost is bounded: a longer message is cut before it is searched, and the values are
 * collected only up to a number.
 *
 *    const redact = redactor({ a: 'abc' })
 *    redact('Expected number but received "abc"', ['a'])
 *    // 'Expected number but received …'
 *
 * @param {*} input what was validated
 * @return {Function} (message, path) => message; path: where in the input the issue is
 * @api private
 */
module.exports = function redactor (input) {
  const budget = { left: 10 * MAX_LEAVES } // values, for all issues together

  return function redact (message, path) {
    const leaves = collect(valueAt(input, path), budget)
    return leaves === undefined ? 'Invalid value' : replace(message, tokensOf(leaves))
  }
}

function valueAt (input, path) {
  let value = input
  for (const key of path) {
    if (Object(value) !== value || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

// The strings and numbers of a value; undefined when there are too many of them.
function collect (value, budget) {
  const leaves = []
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (--budget.left < 0) return
    if (typeof one === 'string' ? one !== '' : typeof one === 'number' || typeof one === 'bigint') {
      if (leaves.push(String(one)) > MAX_LEAVES) return
    } else if (Object(one) === one) {
      if (Array.isArray(one) && one.length > MAX_LEAVES) return
      const inside = Object.values(one)
      if (inside.length > MAX_LEAVES) {
        budget.left -= inside.length // the names of a large object are not listed for each issue again
        return
      }
      open.push(...inside)
      if (open.length > MAX_LEAVES) return
    }
  }
  return leaves
}

/**
 * What to search for, each of at most LONG characters: text → whether the message ends there.
 */
function tokensOf (leaves) {
  const tokens = new Map()
  for (const leaf of leaves) {
    const begin = leaf.slice(0, LONG)
    const quoted = JSON.stringify(begin) // JSON escapes quotes and line breaks
    if (leaf.length > LONG) {
      tokens.set(begin, true)
      tokens.set(quoted.slice(1, -1).slice(0, LONG), true)
    } else {
      if (!tokens.has(leaf)) tokens.set(leaf, false)
      if (quoted.length > LONG) tokens.set(quoted.slice(0, LONG), true)
      else if (!tokens.has(quoted)) tokens.set(quoted, false)
    }
  }
  return tokens
}

// One pass: at each character the longest token that begins there.
function replace (message, tokens) {
  const lengths = [...new Set(Array.from(tokens.keys(), token => token.length))].sort((a, b) => b - a)
  const last = Math.min(message.length, MAX_MESSAGE)
  let result = ''
  let at = 0
  while (at < last) {
    const length = lengths.find(length => isToken(message, at, length, tokens))
    if (length === undefined) {
      result += message[at++]
    } else {
      if (tokens.get(message.slice(at, at + length))) return `${result}…`
      result += '…'
      at += length
    }
  }
  return at < message.length ? `${result}…` : result
}

// A short one only where no letter or digit adjoins: the 1 of "was 1", not that of "at most 10".
function isToken (message, at, length, tokens) {
  const isLong = tokens.get(message.slice(at, at + length))
  if (isLong === undefined || isLong || message[at] === '"') return isLong !== undefined
  return !isWord(message[at - 1]) && !isWord(message[at + length])
}

function isWord (char) {
  return char !== undefined && /[\p{L}\p{N}_]/u.test(char)
}
