'use strict'

const createError = require('../../lib/shared/http-errors')
const { misuse } = require('./usage-error')
const { boolean, each, number, refused, shape } = require('../../lib/shared/options')

module.exports = form
form.add = add
form.nest = nest

const limit = number({ min: 0, max: Infinity })
const MAX_ARRAY = 1000 // an array has as many places as its last index says: `a[999]=1` costs 8 KB
const MAX_PARTS = 2 ** 32 - 1 // String.prototype.split counts modulo 2 ** 32, and takes Infinity for 0
const OPTIONS = shape({
  allowDots: boolean.says('`a.b` is `a[b]`', { default: true }),
  arrayLimit: number({ min: 0, max: MAX_ARRAY }).says('an index from this on, as in `a[20]`, is the key of an object; at most 1000', { default: 20 }),
  depth: limit.says('levels; more are a 400', { default: 5 }),
  parameterLimit: limit.says('pairs; more are a 413', { default: 1000 }),
  ...each(refused('pass the package qs as options.qs'),
    'allowEmptyArrays', 'allowPrototypes', 'allowSparse', 'charset', 'charsetSentinel', 'comma',
    'decodeDotInKeys', 'decoder', 'delimiter', 'duplicates', 'ignoreQueryPrefix', 'interpretNumericEntities',
    'parseArrays', 'plainObjects', 'strictDepth', 'strictMerge', 'strictNullHandling', 'throwOnLimitExceeded')
})
form.OPTIONS = OPTIONS

const DEFAULTS = OPTIONS.fill()

/**
 * A parser of urlencoded forms with the nested keys that qs reads: `a[b]=1`, `a.b=1`, `a[]=1`,
 * `a[0]=1`, `a=1&a=2`. Where qs drops or flattens what is over a limit, the form is refused.
 *
 *    const parse = form({ depth: 2 })
 *    parse('user[name]=ann&user[roles][]=a&user[roles][]=b')
 *    // { user: { name: 'ann', roles: ['a', 'b'] } }
 *
 * By hand because qs brings 22 packages, and neoqs drops parameters over its limit instead of refusing
 * the form.
 *
 * @param {object} [options] those of OPTIONS
 * @return {Function} (text, decode) => object; throws 400 and 413
 * @throws {TypeError} for an option that only qs itself has
 * @api private
 */
function form (options = {}) {
  const refusal = OPTIONS.refusal(options, 'options.queryString')
  if (refusal !== undefined) throw misuse('bodyParser', refusal)
  const { allowDots, arrayLimit, depth, parameterLimit } = OPTIONS.fill(options)

  return function parse (text, decode = decodeUtf8) {
    if (text === '') return {}
    return nest(pairs(text, decode, parameterLimit), allowDots, depth, arrayLimit)
  }
}

/**
 * Collect the values of each key, before the keys are parsed.
 *
 * @return {Record<string, string | string[]>} without a prototype
 */
function pairs (text, decode, limit) {
  const found = Object.create(null)
  const parts = text.replace(/%5B/gi, '[').replace(/%5D/gi, ']').split('&', Math.min(limit + 1, MAX_PARTS))
  if (parts.length > limit) {
    throw createError(413, `more than ${limit} parameters in the form`, { type: 'parameters.too.many', limit })
  }

  for (const part of parts) {
    // in `a[b=c]=d` the first equals sign belongs to the key
    const bracket = part.indexOf(']=')
    const equals = bracket === -1 ? part.indexOf('=') : bracket + 1
    const key = decode(equals === -1 ? part : part.slice(0, equals))
    const value = equals === -1 ? '' : decode(part.slice(equals + 1))
    add(found, key, value)
  }
  return found
}

/**
 * @param {object} found
 * @param {string} key
 * @param {string} value one more of this key
 * @api private
 */
function add (found, key, value) {
  const before = found[key]
  if (before === undefined) found[key] = value
  else if (Array.isArray(before)) before.push(value)
  else found[key] = [before, value]
}

/**
 * Turn keys into nested objects.
 *
 *    nest({ 'a[b]': '1' }) // { a: { b: '1' } }
 *
 * @param {Record<string, string | string[]>} found
 * @return {object}
 * @throws {HttpError} 400 for a key with too many levels
 * @api private
 */
function nest (found, allowDots = false, depth = DEFAULTS.depth, arrayLimit = DEFAULTS.arrayLimit) {
  const result = {}
  for (const key of Object.keys(found)) {
    if (key === '') continue
    const path = split(allowDots && key.includes('.') ? dotsToBrackets(key) : key, depth)
    if (path !== null) merge(result, branch(path, found[key], arrayLimit))
  }
  return compact(result)
}

function decodeUtf8 (text) {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

/**
 * `a.b.c[d.e]` is `a[b][c][d.e]`
 */
function dotsToBrackets (key) {
  let depth = 0
  return key.replace(/[[\]]|\.([^.[]+)/g, (match, name) => {
    if (match === '[') depth++
    else if (match === ']') depth = Math.max(0, depth - 1)
    else if (depth === 0) return `[${name}]`
    else depth = recount(depth, match)
    return match
  })
}

function recount (depth, text) {
  for (const char of text) if (char === ']') depth = Math.max(0, depth - 1)
  return depth
}

/**
 * `a[b][]` as ['a', '[b]', '[]'], null when a part is a name that every object inherits.
 */
function split (key, depth) {
  const first = key.indexOf('[')
  if (first === -1) return isInherited(key) ? null : [key]

  const path = []
  if (first > 0) path.push(key.slice(0, first))
  if (isInherited(path[0])) return null

  const most = path.length + depth
  for (let open = first; open !== -1;) {
    if (path.length === most) {
      throw createError(400, `more than ${depth} levels in a form's key`, { type: 'depth.exceeded', depth })
    }
    const close = closing(key, open)
    if (close === -1) {
      path.push(`[${key.slice(open)}]`) // without a closing bracket the rest is one name
      return path
    }
    if (isInherited(key.slice(open + 1, close))) return null
    path.push(key.slice(open, close + 1))
    open = key.indexOf('[', close + 1)
  }

  return path
}

function closing (key, open) {
  let level = 0
  for (let i = open; i < key.length; i++) {
    const char = key[i]
    if (char === '[') level++
    else if (char === ']' && --level === 0) return i
  }
  return -1
}

function isInherited (name) {
  return Object.hasOwn(Object.prototype, name)
}

/**
 * ['a', '[b]', '[]'] and '1' as { a: { b: ['1'] } }
 */
function branch (path, value, arrayLimit) {
  let leaf = value
  for (let i = path.length - 1; i >= 0; i--) {
    const part = path[i]
    if (part === '[]') {
      leaf = [].concat(leaf)
      continue
    }
    const isBracket = part[0] === '[' && part.at(-1) === ']'
    const name = isBracket ? part.slice(1, -1) : part
    const index = isBracket && /^(?:0|[1-9]\d{0,8})$/.test(name) ? Number(name) : -1
    const holder = index >= 0 && index < arrayLimit ? [] : {}
    holder[name] = leaf
    leaf = holder
  }
  return leaf
}

function merge (target, source) {
  if (typeof source === 'string') {
    if (source === '') return target
    if (!Array.isArray(target)) return [target, source]
    target.push(source)
    return target
  }
  if (typeof target === 'string') return [target].concat(source)

  if (Array.isArray(target) && Array.isArray(source)) {
    source.forEach((item, i) => {
      if (!Object.hasOwn(target, i)) target[i] = item
      else if (typeof target[i] === 'object' && typeof item === 'object') target[i] = merge(target[i], item)
      else target.push(item)
    })
    return target
  }

  const merged = Array.isArray(target) ? { ...target } : target
  for (const key of Object.keys(source)) {
    merged[key] = Object.hasOwn(merged, key) ? merge(merged[key], source[key]) : source[key]
  }
  return merged
}

/**
 * `a[1]=x&a[5]=y` is ['x', 'y'].
 */
function compact (value) {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.filter(() => true).map(compact)
  for (const key of Object.keys(value)) value[key] = compact(value[key])
  return value
}
