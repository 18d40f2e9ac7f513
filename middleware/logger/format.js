'use strict'

const { detach } = require('../../lib/shared/text')
const { escape } = require('../_shared/escape')
const stateless = require('../_shared/stateless')
const { noPromise } = require('../_shared/usage-error')
const { VALUES } = require('./values')

const TOKEN = new RegExp(':(?:(req|res)\\[([^\\]]+)\\]|(url|protocol|hostname|method|status|' +
  'response-time|date|referrer|http-version|remote-addr|user-agent|content-length|id))', 'g')

/**
 * Split a format into texts and functions, once.
 *
 *    compile(':method :url', []).fill(ctx, start)   // 'GET /'
 *
 * @param {string} format
 * @param {object[]} tokens the app's own
 * @return {{ timed: boolean, fill: Function }} timed: whether it has the response time; fill: (ctx, start) => line
 */
function compile (format, tokens) {
  /** @type {any[]} */
  let pieces = [format]
  for (const token of tokens) pieces = pieces.flatMap(piece => cut(piece, token))
  pieces = pieces.flatMap(piece => cut(piece, { token: TOKEN, value: standard }))

  return {
    timed: pieces.some(piece => piece === VALUES['response-time']),
    fill (ctx, start) {
      let line = ''
      for (const piece of pieces) line += typeof piece === 'string' ? piece : piece(ctx, start)
      return line
    }
  }
}

function cut (piece, given) {
  if (typeof piece !== 'string') return [piece]
  const isPattern = given.token instanceof RegExp
  const token = isPattern ? { ...given, token: stateless(given.token) } : given
  const found = isPattern ? piece.matchAll(new RegExp(token.token, `${token.token.flags}g`)) : positions(piece, token.token)
  const pieces = []
  let end = 0
  for (const match of found) {
    pieces.push(piece.slice(end, match.index), (token.value ?? custom(token))(match))
    end = match.index + match[0].length
  }
  pieces.push(piece.slice(end))
  return pieces
}

function * positions (text, token) {
  for (let index = text.indexOf(token); index >= 0; index = text.indexOf(token, index + 1)) {
    yield { 0: token, index }
  }
}

function standard ([, side, field, name]) {
  if (name) return VALUES[name]
  if (side === 'req') return ctx => escape(ctx.get(field)) || '-'
  return ctx => escape(String(ctx.response.get(field) ?? '')) || '-'
}

/** koa-log4's { token, replacement } and { token, content: ctx => replacement }. */
function custom ({ token, replacement, content }) {
  if (typeof content !== 'function' && typeof replacement === 'string') {
    return match => match[0].replace(token, replacement)
  }
  return match => ctx => {
    const value = typeof content === 'function' ? content(ctx) : replacement
    return escape(String(noPromise('logger', `options.tokens: ${token}`, typeof value === 'function' ? value(...match) : value)))
  }
}

const MAX_FORMAT = 1000 // characters

/**
 * Expands the formats of a format function. They are texts of the program, so there are only a few to cache; one that
 * the function makes for a request may be long, and is not kept.
 *
 * @param {object[]} tokens the app's own
 * @return {Function} (format, ctx, start) => line
 */
function expander (tokens) {
  const compiled = new Map()
  return (format, ctx, start) => {
    let known = compiled.get(format)
    if (known === undefined) {
      known = compile(format, tokens).fill
      if (compiled.size === 100) compiled.clear()
      if (format.length <= MAX_FORMAT) compiled.set(detach(format), known)
    }
    return known(ctx, start)
  }
}

module.exports = { compile, expander }
