'use strict'

const GLOBSTAR = Symbol('**')

// Another spelling of a slash or a dot, which what comes next may take for one.
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
 * The last `**` is the only place to go back to, so the cost stays below segments × segments
 * whatever path a client sends.
 *
 * @param {String[]} patterns
 * @return {Function} path => Boolean
 * @throws {TypeError} for a glob with `(`: extended globs are not known
 * @api private
 */
module.exports = function globs (patterns) {
  const tests = patterns.map(pattern => {
    const not = pattern[0] === '!'
    return { not, alternatives: expand(not ? pattern.slice(1) : pattern).map(compile) }
  })

  return path => {
    if (path.length > MAX_PATH || DISGUISED.test(path)) return false
    const segments = path.split('/')
    let matched = false
    for (const { not, alternatives } of tests) {
      if (matched === not && alternatives.some(glob => matches(glob, segments))) matched = !not
    }
    return matched
  }
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

function compile (pattern) {
  if (/[@?+*!]\(/.test(pattern)) throw new TypeError(`extended glob: ${pattern}`)
  return pattern.split('/').map(segment => segment === '**' ? GLOBSTAR : toRegExp(segment))
}

function toRegExp (segment) {
  const source = segment.replace(/\*+|\?|\\.|\[[^\]]+\]|[^\w]/g, token => {
    if (token[0] === '*') return '[^/]*?'
    if (token === '?') return '[^/]'
    if (token[0] === '[' && token.length > 1) return token.replace(/^\[!/, '[^').replace(/\\/g, '\\\\')
    return `\\${token.slice(-1)}`
  })
  const visible = /^[*?[]/.test(segment) ? '(?!\\.)(?=.)' : ''
  return new RegExp(`^${visible}${source}$`, 's')
}

function matches (glob, segments) {
  let g = 0
  let s = 0
  let back = -1 // behind the last **
  let resume = 0 // the segment that it may swallow next

  while (s < segments.length) {
    const part = glob[g]
    if (part === GLOBSTAR) {
      back = ++g
      resume = s
    } else if (part !== undefined && part.test(segments[s])) {
      g++
      s++
    } else if (g === glob.length && s === segments.length - 1 && segments[s] === '') {
      return true // a slash at the end
    } else if (back !== -1 && segments[resume][0] !== '.') {
      g = back
      s = ++resume
    } else {
      return false
    }
  }
  return g === glob.length
}
