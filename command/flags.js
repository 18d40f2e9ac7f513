'use strict'

const { parseArgs } = require('node:util')
const { nearest } = require('../lib/shared/nearest')

/**
 * The flags and the other words of a command line.
 *
 *    parse(['app.js', '--port', '80'], { port: { type: 'string', value: 'number' } }, 'kone dev --help')
 *    // { values: { port: '80' }, positionals: ['app.js'] }
 *
 * @param {string[]} args
 * @param {{ [flag: string]: { type: 'string' | 'boolean', value?: string, short?: string } }} flags `value`: what the
 *   usage calls it
 * @param {string} page where to read on
 * @return {{ values: object, positionals: string[] }}
 * @throws {Error} for an unknown flag, one without its value, or with a value that it does not take
 */
function parse (args, flags, page) {
  const { values, positionals, tokens } = parseArgs({ args, options: flags, strict: false, tokens: true })
  for (const { kind, name, rawName, value } of tokens) {
    if (kind !== 'option') continue
    if (!Object.hasOwn(flags, name)) throw new Error(unknown(`flag ${rawName}`, name, Object.keys(flags), page, '--'))
    const { type, value: expected } = flags[name]
    if (type === 'string' && !value) throw new Error(`${rawName} needs a value: <${expected}> (see ${page})`)
    if (type === 'boolean' && value !== undefined) throw new Error(`${rawName} takes no value, not ${value} (see ${page})`)
  }
  return { values, positionals }
}

/** @return {string} the message for a word that is not one of `known` */
function unknown (what, name, known, page, dashes = '') {
  const meant = nearest(name, known)
  const hint = meant ? `did you mean ${dashes}${meant}?` : `expected ${known.map(one => dashes + one).join(', ')}`
  return `unknown ${what}: ${hint} (see ${page})`
}

module.exports = { parse, unknown }
