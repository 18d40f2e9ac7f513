'use strict'

const { Options, Rule, fn, list, string } = require('../../lib/shared/options')
const { LEVELS, levelName } = require('./writer')

const level = new Rule(`'auto' or one of ${LEVELS.join(', ')}`, value => {
  return ['auto', ...LEVELS].includes(levelName(value))
})
const pattern = new Rule('a RegExp or a string', value => typeof value === 'string' || value instanceof RegExp)
const token = new Rule('a token', value => {
  return (typeof value?.token === 'string' && value.token !== '') || value?.token instanceof RegExp
})

const RULES = {
  format: string.or(fn).says('text with tokens, or `(ctx, expand) => line`; an empty line is not logged', {
    otherwise: "koa-log4's with date and duration, and the request's id if it has one", type: 'Format'
  }),
  level: level.says("a level of the logger, or `'auto'`: info; warn from status 300 on; error from status 400 on", {
    default: 'info',
    type: "'auto' | 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | (string & {}) | { levelStr: string }"
  }),
  nolog: pattern.or(list(pattern, 'them')).says(
    'URLs that are not logged: a RegExp (its flags apply), the source of one as a string, or an array of both',
    { type: 'string | RegExp | Array<string | RegExp>' }),
  tokens: list(token, 'objects whose token is a non-empty string or a RegExp').says(
    'your own tokens: `{ token, replacement }` or `{ token, content: ctx => … }`', { default: [], type: 'Token[]' })
}

module.exports = new Options('logger', RULES)

/** In place of a logger. */
module.exports.alone = new Options('logger', {
  ...RULES,
  transporter: fn.says("called with the line and `[format, method, url, status, time, length]`, in koa-logger's format",
    { type: 'Transporter' })
})
