'use strict'

const six = require('path-to-regexp')
const eight = require('path-to-regexp-8')

const SEGMENT = '[^\\/#\\?]+?' // what path-to-regexp 6 makes of `:name`
const BEFORE_TEXT = '[^\\/#\\?])+?' // the end of what it makes of the second one of `:from-:to`
const ATOM = /(\\.|\[(?:\\.|[^\]\\]){1,99}\]|[^()\\])([?*+]|\{\d+(?:,\d*)?\})?\??/g // a character or a class, and how often
const CHARACTERS = ['a', 'f', 'A', 'z', '-', '_', '.', '0', '7']
const MAX_TEMPLATES = 64 // of one path: optional segments double them

/**
 * The templates of OpenAPI that a route's path stands for: OpenAPI has no optional segments, so `/users/:id?` is two.
 *
 *    templatesOf('/users/:id(\\d+)?', 6)
 *    // [{ template: '/users/{id}', params: { id: '^(?:\\d+)$' }, … }, { template: '/users', params: {}, … }]
 *
 * @param {string} path
 * @param {6|8} syntax
 * @return {Array<{ template: string, params: Record<string, string | null>, samples: string[] }>} `params`: name →
 *   pattern; `samples`: two paths, of which only a route with the same or wider params matches both
 */
function templatesOf (path, syntax) {
  const lists = syntax === 8 ? ofEight(eight.parse(path).tokens) : ofSix(six.parse(path))
  const found = new Map()
  for (const pieces of lists.slice(0, MAX_TEMPLATES)) {
    const one = { template: '', params: {}, samples: ['', ''] }
    for (const [at, piece] of pieces.entries()) {
      if (typeof piece === 'string') {
        one.template += piece
        one.samples = one.samples.map(sample => sample + piece)
      } else {
        const name = nameOf(piece, pieces.slice(at + 1))
        one.template += `{${name}}`
        one.samples = one.samples.map((sample, i) => sample + exampleOf(piece, i))
        one.params[name] = piece.pattern
      }
    }
    const slashed = text => text[0] === '/' ? text : `/${text}`
    one.template = slashed(one.template)
    one.samples = one.samples.map(slashed)
    found.set(one.template, one)
  }
  return [...found.values()]
}

// A template has each name once. Of `/users/:id/posts/:id` the last one is ctx.params.id, and what validate() checks.
function nameOf ({ name }, later) {
  const count = later.filter(piece => piece.name === name).length
  return count === 0 ? name : `${name}.${count}`
}

function ofSix (tokens) {
  return tokens.reduce((lists, token) => {
    if (typeof token === 'string') return lists.map(list => [...list, token])
    const { name, prefix, suffix, pattern, modifier } = token
    const isPlain = ['.*', SEGMENT].includes(pattern) || pattern.endsWith(BEFORE_TEXT)
    const isMany = pattern === '.*' || modifier === '*' || modifier === '+'
    const param = name === '' ? [] : [{ name: String(name), isMany, pattern: isPlain ? null : `^(?:${pattern})$` }]
    const present = lists.map(list => [...list, prefix, ...param, suffix])
    return modifier === '?' || modifier === '*' ? [...present, ...lists] : present
  }, [[]])
}

function ofEight (tokens) {
  return tokens.reduce((lists, token) => {
    if (token.type === 'text') return lists.map(list => [...list, token.value])
    if (token.type !== 'group') return lists.map(list => [...list, { name: token.name, isMany: token.type === 'wildcard', pattern: null }])
    return [...lists.flatMap(list => ofEight(token.tokens).map(inner => [...list, ...inner])), ...lists]
  }, [[]])
}

/**
 * A value of a param. Its pattern is read only as far as routes use patterns: alternatives, classes, repetitions.
 *
 * @param {{ pattern: string | null, isMany: boolean }} param
 * @param {number} which of two, different ones where the pattern allows that
 * @return {string} for a pattern that has more, a value that may not match
 */
function exampleOf ({ pattern, isMany }, which) {
  if (pattern === null) return ['~any~', isMany ? '~any~/~other~' : '~other~'][which]
  const [first, ...others] = pattern.slice(4, -2).split('|') // without ^(?: and )$
  const text = which === 0 ? first : others.at(-1) ?? first
  return text.replace(ATOM, (atom, one, count) => {
    const isClass = one.length > 1 || one === '.'
    const characters = isClass ? CHARACTERS.filter(character => new RegExp(`^${one}$`).test(character)) : [one]
    const character = (which === 0 ? characters[0] : characters.at(-1)) ?? one
    return character.repeat(Number(/\d+/.exec(count ?? '')?.[0] ?? 1 + which * Number(/[+*]/.test(count))) || 1)
  })
}

module.exports = templatesOf
