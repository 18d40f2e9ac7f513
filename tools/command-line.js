'use strict'

const { existsSync } = require('node:fs')
const { parse, unknown } = require('../command/flags')

/**
 * What is on the command line of a tool of this checkout. A mistake ends the tool with one line and exit code 2.
 *
 *    const FLAGS = { seconds: { type: 'string', value: 'number' }, replay: { type: 'string', value: 'file' } }
 *    commandLine('fuzz', FLAGS, 'test/engines/http1/fuzz.js')   // { values: { seconds: 60 }, positionals: [] }
 *
 * @param {string} name of the tool
 * @param {object} flags as parseArgs() takes them; `value`: number, file, folder, or what else the message calls it
 * @param {string} page where to read on
 * @param {string[] | ((word: string) => boolean)} [known] the words beside the flags
 * @return {{ values: object, positionals: string[] }}
 */
module.exports = function commandLine (name, flags, page, known = []) {
  try {
    const { values, positionals } = parse(process.argv.slice(2), flags, page)
    for (const [flag, value] of Object.entries(values)) values[flag] = read(flag, value, flags[flag].value, page)
    for (const word of positionals) check(word, known, page)
    return { values, positionals }
  } catch (err) {
    console.error(`${name}: ${err.message}`)
    process.exit(2)
  }
}

function read (flag, value, kind, page) {
  const number = Number(value)
  if (kind === 'number' && !(number >= 0)) throw new Error(`--${flag} must be a number, not ${value} (see ${page})`)
  if (['file', 'folder'].includes(kind) && !existsSync(value)) throw new Error(`--${flag}: there is no ${kind} ${value} (see ${page})`)
  return kind === 'number' ? number : value
}

function check (word, known, page) {
  if (typeof known === 'function' ? known(word) : known.includes(word)) return
  throw new Error(Array.isArray(known) && known.length > 0
    ? unknown(`argument ${word}`, word, known, page)
    : `unknown argument ${word} (see ${page})`)
}
