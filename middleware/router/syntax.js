'use strict'

const six = require('path-to-regexp') // 6.3: koa-router 13
const eight = require('path-to-regexp-8') // @koa/router from 14 on
const stateless = require('../_shared/stateless')
const { misuse } = require('../_shared/usage-error')

/**
 * The two ways to write a path. Each has:
 *
 * - `any`: the path of `use()` without one
 * - `toRegexp(path, opts)` → { regexp, keys }
 * - `names(path)`: the params' names, in the path's order
 * - `compile(path, values, options)` → URL
 * - `isDelimiter(code)`: the characters that end a segment
 *
 * @api private
 */
const syntaxes = {
  6: {
    any: '([^/]*)',

    toRegexp (path, opts) {
      const keys = []
      return { regexp: encodedToo(six.pathToRegexp(path, keys, { ...opts, encode: mark })), keys }
    },

    names: path => six.parse(path).map(token => Object(token).name).filter(Boolean),

    /** For `encode: false`, which version 8 knows, this one needs undefined. */
    compile (path, values, { encode, ...options }) {
      return six.compile(path, { ...options, encode: encode || undefined })(values)
    },

    isDelimiter: code => code === 0x2f || code === 0x23 || code === 0x3f
  },

  8: {
    any: '',

    toRegexp (path, { end, sensitive, strict }) {
      if (path instanceof RegExp) return { regexp: path, keys: [] }
      const { regexp, keys } = eight.pathToRegexp(path, { end, sensitive, trailing: strict !== true, encodePath: mark })
      return { regexp: encodedToo(regexp), keys }
    },

    names: path => keysOf(eight.parse(path).tokens).map(({ name }) => name),

    /** compile() of path-to-regexp 8 takes only text, and for a wildcard a list of segments. */
    compile (path, values, options) {
      const texts = {}
      for (const { name, type } of keysOf(eight.parse(path).tokens)) {
        const value = values[name]
        if (value === undefined || value === null) continue
        texts[name] = type === 'param' ? String(value) : [].concat(value).flatMap(one => String(one).split('/'))
      }
      return eight.compile(path, options)(texts)
    },

    isDelimiter: code => code === 0x2f
  }
}

/** A character that clients encode in a path: they send `/caf%C3%A9` for `/café`, and `/a%20b` for `/a b`. */
const ODD = /[^!$-;=@-Z_a-z~]/gu
const MARK = '\uE000'
const MARKED = /\uE000(\\?)(.)/gsu

function mark (literal) {
  return literal.replace(ODD, `${MARK}$&`)
}

/** The regular expression with each marked character as it is, and as clients encode it. */
function encodedToo (regexp) {
  const { source, flags } = regexp
  return source.includes(MARK) ? new RegExp(source.replace(MARKED, either), flags) : regexp
}

function either (text, escape, char) {
  const isSurrogate = char.length === 1 && /[\ud800-\udfff]/.test(char) // alone, which no client can send
  return isSurrogate ? char : `(?:${escape}${char}|${encodeURIComponent(char)})`
}

function keysOf (tokens) {
  return tokens.flatMap(token => token.type === 'group' ? keysOf(token.tokens) : token.name ? [token] : [])
}

/**
 * A path's regular expression, or an error that says whether the other syntax is meant, or how to write its `*`.
 *
 * @param {string | RegExp} path
 * @param {object} opts of the layer
 * @return {{regexp: RegExp, keys: object[]}}
 * @throws {TypeError}
 * @api private
 */
function toRegexp (path, opts) {
  try {
    return syntaxes[opts.syntax ?? 6].toRegexp(path instanceof RegExp ? stateless(path) : path, opts)
  } catch (cause) {
    if (typeof path !== 'string') throw cause
    const [version, hint] = opts.syntax === 8 ? [8, hintOfEight(path)] : [6.3, hintOfSix(path)]
    const reason = `'${path}' is not a path of path-to-regexp ${version} (${cause.message})`
    throw misuse('router', hint === undefined ? reason : `${reason}: ${hint}`, { cause })
  }
}

function hintOfSix (path) {
  if (isPath(path, 8)) return 'if it is written for @koa/router 14 or later, use new Router({ syntax: 8 })'
  // after a param or a group it repeats that
  const meant = path.replace(/(:\w+|[)}\\])\*|\*/g, (text, repeated) => repeated === undefined ? '(.*)' : text)
  if (isPath(meant, 6)) return `write '${meant}'`
}

function hintOfEight (path) {
  if (isPath(path, 6)) return 'if it is written for koa-router, leave options.syntax out'
  let count = 0
  const meant = path.replace(/(?<!\\)\*(?![\w"])/g, () => `*splat${++count === 1 ? '' : count}`)
  if (isPath(meant, 8)) return `write '${meant}'`
}

/**
 * The leading segments that every path matching `path` must have, a param as null; `exact` when
 * nothing can follow them. For the index of routes, see trie.js.
 *
 * @api private
 */
function segmentsOfEight (path) {
  const segments = []
  let current = null // pieces of the segment that has begun, a param as null
  const close = () => {
    const isParam = current.length === 1 && current[0] === null
    if (!isParam && current.includes(null)) return false
    segments.push(isParam ? null : current.join('').toLowerCase())
    return true
  }

  for (const token of eight.parse(path).tokens) {
    if (token.type === 'text') {
      const [first, ...rest] = token.value.split('/')
      if (current === null && first !== '') return { segments, exact: false }
      if (first !== '') current.push(first)
      for (const part of rest) {
        if (current !== null && !close()) return { segments, exact: false }
        current = part === '' ? [] : [part]
      }
    } else if (token.type === 'param' && current !== null) {
      current.push(null)
    } else {
      // of `/users{/:id}` the segment before the slash is certain
      const [next] = token.type === 'group' ? token.tokens : []
      if (current?.length > 0 && next?.type === 'text' && next.value[0] === '/') close()
      return { segments, exact: false }
    }
  }
  return { segments, exact: current === null || close() }
}

function isPath (path, syntax) {
  try {
    syntaxes[syntax].toRegexp(path, {})
    return true
  } catch {
    return false
  }
}

module.exports = { ODD, segmentsOfEight, syntaxes, toRegexp }
