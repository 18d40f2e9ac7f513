'use strict'

const GLOBSTAR = Symbol('**')
const STAR = Symbol('*')
const ONE = Symbol('?')

module.exports = { compile, matchesPath }

/**
 * A glob without braces, taken apart once.
 *
 *     /api/**\/[a-c]*.js     '', 'api', GLOBSTAR, [{ a-c }, STAR, '.', 'j', 's']
 *
 * @param {string} pattern
 * @return {Array} a segment each: GLOBSTAR or { tokens, isWild }
 * @throws {TypeError} for an extended glob or a range out of order
 * @api private
 */
function compile (pattern) {
  if (/[@?+*!]\(/.test(pattern)) throw new TypeError(`extended glob: ${pattern}`)
  return pattern.split('/').map(segment => segment === '**' ? GLOBSTAR : compileSegment(segment))
}

/**
 * Whether a compiled glob matches a path. The last `**`, and within a segment the last `*`, is the
 * only place to go back to, because a shorter match of an earlier one leaves more of the path: each
 * character is compared at most as often as the glob is long.
 *
 * @param {Array} glob of `compile`
 * @param {string[]} segments of the path
 * @param {boolean} widely wildcards match segments that begin with a dot, too, and a last `**` none at all
 * @return {boolean}
 * @api private
 */
function matchesPath (glob, segments, widely) {
  let g = 0
  let s = 0
  let back = -1 // after the last **
  let resume = 0 // the segment that it may swallow next

  while (s < segments.length) {
    const part = glob[g]
    if (part === GLOBSTAR) {
      back = ++g
      resume = s
    } else if (part !== undefined && matchesSegment(part, segments[s], widely)) {
      g++
      s++
    } else if (g === glob.length && s === segments.length - 1 && segments[s] === '') {
      return true // a slash at the end
    } else if (back !== -1 && (widely || segments[resume][0] !== '.')) {
      g = back
      s = ++resume
    } else {
      return false
    }
  }
  if (widely && glob[g] === GLOBSTAR) g++
  return g === glob.length
}

function matchesSegment ({ tokens, isWild }, text, widely) {
  if (isWild && (text === '' || (text[0] === '.' && !widely))) return false
  let t = 0
  let i = 0
  let back = -1 // after the last *
  let resume = 0 // the character that it may swallow next

  while (i < text.length) {
    const token = tokens[t]
    if (token === STAR) {
      back = ++t
      resume = i
    } else if (token !== undefined && accepts(token, text[i])) {
      t++
      i++
    } else if (back !== -1) {
      t = back
      i = ++resume
    } else {
      return false
    }
  }
  while (tokens[t] === STAR) t++
  return t === tokens.length
}

function accepts (token, char) {
  if (typeof token === 'string') return token === char
  return token === ONE || token.ranges.some(([from, to]) => from <= char && char <= to) !== token.not
}

function compileSegment (segment) {
  const tokens = []
  for (let i = 0; i < segment.length; i++) {
    const char = segment[i]
    const close = char === '[' ? segment.indexOf(']', i + 2) : -1
    if (char === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR)
    } else if (char === '?') {
      tokens.push(ONE)
    } else if (close !== -1 && segment[i + 1] !== ']') {
      tokens.push(compileSet(segment.slice(i + 1, close)))
      i = close
    } else if (char === '\\' && i + 1 < segment.length) {
      tokens.push(segment[++i])
    } else {
      tokens.push(char)
    }
  }
  return { tokens, isWild: '*?['.includes(segment[0]) }
}

/** `a-cx` → { not: false, ranges: [['a', 'c'], ['x', 'x']] } */
function compileSet (text) {
  const not = text.length > 1 && (text[0] === '!' || text[0] === '^')
  const ranges = []
  for (let i = not ? 1 : 0; i < text.length; i++) {
    const isRange = text[i + 1] === '-' && i + 2 < text.length
    const from = text[i]
    const to = isRange ? text[i += 2] : from
    if (from > to) throw new TypeError(`a range out of order in the glob's [${text}]`)
    ranges.push([from, to])
  }
  return { not, ranges }
}
