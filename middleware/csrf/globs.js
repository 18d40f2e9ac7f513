'use strict'

const { compile, matchesPath } = require('./segments')

// Other spellings of a slash or a dot: what comes after csrf may take them for one.
const DISGUISED = /\\|%2e|%2f|%5c/i
const MAX_PATH = 2048

/**
 * A test for paths by globs as multimatch takes them: `*` and `?` within a segment, `**` for any
 * number of segments, `[a-z]`, `{a,b}`, `\` before a character that means itself, and `!` before a
 * whole glob for "but not". Wildcards match no segment that begins with a dot.
 *
 *    const isIgnored = globs(['/api/**', '!/api/admin/**'])
 *    isIgnored('/api/hook') // true
 *
 * A glob with `!` takes paths out that stay protected, so it matches every path that a router may
 * take for one it names: in upper and lower case, percent-encoded, with segments that begin with a
 * dot, and for a last `**` the path in front of it.
 *
 * The cost is linear in the path.
 *
 * @param {string[]} patterns
 * @return {Function} path => Boolean
 * @throws {TypeError} for a glob with `(`: extended globs are not known
 * @api private
 */
module.exports = function globs (patterns) {
  const tests = patterns.map(pattern => {
    const not = pattern[0] === '!'
    const source = not ? fold(pattern.slice(1)) : pattern
    return { not, alternatives: expand(source).map(compile) }
  })

  return path => {
    if (path.length > MAX_PATH || DISGUISED.test(path)) return false
    const segments = path.split('/')
    let spellings
    let matched = false
    for (const { not, alternatives } of tests) {
      if (matched !== not) continue
      if (not) spellings ??= spellingsOf(path)
      const isMatch = not
        ? spellings.some(segments => alternatives.some(glob => matchesPath(glob, segments, true)))
        : alternatives.some(glob => matchesPath(glob, segments, false))
      if (isMatch) matched = !not
    }
    return matched
  }
}

/** What a router compares, and what it decodes to: segments of both, without upper case. */
function spellingsOf (path) {
  const folded = fold(path)
  if (!path.includes('%')) return [folded.split('/')]
  return [folded.split('/'), fold(decode(path)).split('/')]
}

function decode (path) {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // no router could decode it either
  }
}

/** One form for all letters that a RegExp with the flag `i` takes for the same. */
function fold (text) {
  let folded = ''
  for (let i = 0; i < text.length; i++) folded += foldOne(text[i])
  return folded
}

function foldOne (char) {
  if (char < '\x80') return char.toLowerCase()
  const upper = char.toUpperCase()
  const lower = (upper.length === 1 ? upper : char).toLowerCase()
  return lower.length === 1 ? lower : char // of the same length, for `?` stands for one
}

/** `a{b,c{d,e}}` → ab, acd, ace */
function expand (pattern) {
  const open = pattern.indexOf('{')
  if (open === -1) return [pattern]

  const parts = []
  let depth = 0
  let from = open + 1
  for (let i = open; i < pattern.length; i++) {
    const char = pattern[i]
    if (char === '{') depth++
    if (char === ',' && depth === 1) {
      parts.push(pattern.slice(from, i))
      from = i + 1
    }
    if (char === '}' && --depth === 0) {
      parts.push(pattern.slice(from, i))
      const before = pattern.slice(0, open)
      const after = pattern.slice(i + 1)
      return parts.flatMap(part => expand(before + part + after))
    }
  }
  throw new TypeError(`a { is not closed in the glob ${pattern}`)
}
