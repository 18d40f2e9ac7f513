'use strict'

const six = require('path-to-regexp')
const eight = require('path-to-regexp-8')

const SEGMENT = '[^\\/#\\?]+?' // what path-to-regexp 6 makes of `:name`
const MAX_TEMPLATES = 64 // of one path: optional segments double them

/**
 * The templates of OpenAPI that a route's path stands for: OpenAPI has no optional segments, so `/users/:id?` is two.
 *
 *    templatesOf('/users/:id(\\d+)?', 6)
 *    // [{ template: '/users/{id}', params: { id: '^(?:\\d+)$' }, … }, { template: '/users', params: {}, … }]
 *
 * @param {string} path
 * @param {6|8} syntax
 * @return {Array<{ template: string, params: Record<string, string | null>, sample: string }>} `params`: name →
 *   pattern; `sample`: a path that only a route with the same or wider params matches
 */
function templatesOf (path, syntax) {
  const lists = syntax === 8 ? ofEight(eight.parse(path).tokens) : ofSix(six.parse(path))
  const found = new Map()
  for (const pieces of lists.slice(0, MAX_TEMPLATES)) {
    const one = { template: '', params: {}, sample: '' }
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        one.template += piece
        one.sample += piece
      } else {
        one.template += `{${piece.name}}`
        one.sample += '~any~'
        one.params[piece.name] = piece.pattern
      }
    }
    if (one.template[0] !== '/') one.template = `/${one.template}`
    found.set(one.template, one)
  }
  return [...found.values()]
}

function ofSix (tokens) {
  return tokens.reduce((lists, token) => {
    if (typeof token === 'string') return lists.map(list => [...list, token])
    const { name, prefix, suffix, pattern, modifier } = token
    const param = name === '' ? [] : [{ name: String(name), pattern: ['.*', SEGMENT].includes(pattern) ? null : `^(?:${pattern})$` }]
    const present = lists.map(list => [...list, prefix, ...param, suffix])
    return modifier === '?' || modifier === '*' ? [...present, ...lists] : present
  }, [[]])
}

function ofEight (tokens) {
  return tokens.reduce((lists, token) => {
    if (token.type === 'text') return lists.map(list => [...list, token.value])
    if (token.type !== 'group') return lists.map(list => [...list, { name: token.name, pattern: null }])
    return [...lists.flatMap(list => ofEight(token.tokens).map(inner => [...list, ...inner])), ...lists]
  }, [[]])
}

module.exports = templatesOf
