'use strict'

const createError = require('http-errors')
const secure = require('secure-json-parse')

const BLANKS = /[ \t\n\r]*/y
// eslint-disable-next-line no-control-regex -- JSON's strings have none of them
const TOKEN = /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** What may come → the tokens that do: brackets, marks, a string by its quote, `x` for another value. */
const TOKENS = { value: '{["x', element: '{["x]', name: '"', member: '"}', colon: ':' }

/**
 * Parse JSON of a client. Refuses, or removes, keys that would reach a prototype when the value is
 * merged into another object.
 *
 *    parseJSON('{"a":1}') // { a: 1 }
 *
 * @param {string} text
 * @param {boolean} [strict=true] objects and arrays only; an empty text is {}
 * @param {string} [onProtoPoisoning='error'] or 'remove', 'ignore'
 * @return {*}
 * @throws {SyntaxError} as http-errors makes it: status 400, `expose`; the text as `body`
 * @api private
 */
module.exports = function parseJSON (text, strict = true, onProtoPoisoning = 'error') {
  if (text === '') return strict ? {} : text
  try {
    if (strict && !/^[\x20\t\n\r]*[[{]/.test(text)) {
      throw new SyntaxError('invalid JSON, only objects and arrays are read')
    }
    return secure.parse(text, { protoAction: onProtoPoisoning, constructorAction: onProtoPoisoning })
  } catch (err) {
    const [, position, line] = / position (\d+)( \(line)?/.exec(err.message) ?? []
    const at = position === undefined ? breakOf(text) : Number(position)
    if (at !== undefined && line === undefined) err.message += ` (${lineOf(text, at)})`
    throw createError(400, err, { body: text })
  }
}

/**
 * Where a text stops being JSON. V8 tells it in some of its messages, and newer ones only.
 *
 * @param {string} text
 * @return {number | undefined} index of the first character that cannot be there; undefined for JSON
 */
function breakOf (text) {
  const open = [] // the brackets that are to be closed
  let state = 'value'
  for (let at = 0; ; at = TOKEN.lastIndex) {
    BLANKS.lastIndex = at
    BLANKS.test(text)
    const start = TOKEN.lastIndex = BLANKS.lastIndex
    const isEnd = start === text.length
    if (state === 'after' && open.length === 0) return isEnd ? undefined : start
    const first = TOKEN.test(text) ? text[start] : undefined
    const kind = '{}[],:"'.includes(first) ? first : 'x'
    const known = TOKENS[state] ?? `,${open.at(-1)}`
    if (first === undefined || !known.includes(kind)) return start
    if (kind === '{') open.push('}')
    else if (kind === '[') open.push(']')
    else if (kind === open.at(-1)) open.pop()
    state = following(kind, state, open.at(-1))
  }
}

function following (kind, state, closing) {
  if (kind === '{') return 'member'
  if (kind === '[') return 'element'
  if (kind === ':') return 'value'
  if (kind === ',') return closing === '}' ? 'name' : 'value'
  return kind === '"' && (state === 'name' || state === 'member') ? 'colon' : 'after'
}

function lineOf (text, at) {
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${before.at(-1).length + 1}`
}
