'use strict'

const { parseArgs } = require('node:util')
const flags = require('../../../command/flags')
const { targetOf } = require('../report/text')

/** Rounds of a result: of as many coins all fall on one side in 3 of 100 tries. */
const ROUNDS = exports.ROUNDS = 6
const LOOK = 3 // rounds of a first look

/** Where an error of the lab points to. */
const READ_ON = exports.READ_ON = ' (benchmarks/README.md)'

const OPTIONS = {
  full: { help: `a result: ${ROUNDS} rounds of everything. Without it a first look of ${LOOK} short rounds, within four minutes` },
  rounds: { value: 'N', help: `rounds per contender, at least 3 (default ${LOOK}, with --full ${ROUNDS})` },
  only: { value: 'a,b', help: 'only these contenders' },
  node: { value: '<binary>', help: 'the Node that runs the servers, or its major version: 26 (default: this one)' },
  help: { help: 'this text' }
}

/**
 * The options on the command line of a lab. Everything unknown is refused with a sentence, for a misspelt `--only`
 * would otherwise measure something else than was meant.
 *
 *    parse(['--full', '--only', 'kone,koa'], { lab: 'battle', contenders: ['kone', 'koa', 'node'] })
 */
exports.parse = function (argv, { lab, contenders, own = {} }) {
  const known = { ...OPTIONS, ...own }
  const refuse = message => { throw new OptionError(`${lab}: ${message}`) }
  const types = Object.entries(known).map(([name, { value }]) => [name, { type: value ? 'string' : 'boolean', multiple: name === 'only' }])
  const { tokens, values } = parseArgs({ args: argv, options: Object.fromEntries(types), strict: false, tokens: true })

  for (const { kind, name, rawName, value, inlineValue } of tokens) {
    if (kind !== 'option') refuse(`unknown argument ${value ?? '--'}: expected ${listOf(known)}`)
    if (!Object.hasOwn(known, name)) refuse(`unknown option ${rawName}: expected ${listOf(known)}`)
    const needs = known[name].value
    if (needs && (!value || (!inlineValue && value.startsWith('--')))) refuse(`${rawName} needs a value: ${rawName} ${needs}`)
    if (!needs && value !== undefined) refuse(`${rawName} takes no value, not ${value}`)
  }

  const { full = false, help = false, rounds = full ? ROUNDS : LOOK, node = process.execPath, ...named } = values
  const only = values.only?.flatMap(list => list.split(',')).map(name => name.trim()).filter(Boolean) ?? null
  const unknown = only?.filter(name => !contenders.includes(name)) ?? []
  if (!(Number.isInteger(Number(rounds)) && rounds >= 3)) refuse(`--rounds must be a whole number of at least 3, not ${rounds}`)
  if (unknown.length) refuse(`unknown contender ${unknown.join(', ')}: expected ${contenders.join(', ')}`)
  const defaults = Object.entries(own).map(([name, { value }]) => [name, value ? null : false])
  return { ...Object.fromEntries(defaults), ...named, quick: !full, help, rounds: Number(rounds), only, node }
}

/**
 * The workloads that `--workloads` names.
 *
 *    workloadsOf('compare', 'hello;post', ['hello', 'post', 'stream']) // ['hello', 'post']
 *
 * @param {string} lab
 * @param {string|null} text
 * @param {string[]} all those that there are
 * @param {string[]} [usual] without the option, if not all
 */
exports.workloadsOf = function (lab, text, all, usual = all) {
  const names = text?.split(';').map(name => name.trim()).filter(Boolean) ?? usual
  const unknown = names.filter(name => !all.includes(name))
  if (unknown.length) throw new OptionError(`${lab}: unknown workload ${unknown.join('; ')}: expected ${all.join('; ')}`)
  return names
}

/** The flags and the other words of `make results` and `make report`: a mistake ends them with one line and exit code 2. */
exports.commandLine = function (name, known, { hasWords = false } = {}) {
  try {
    const { values, positionals } = flags.parse(process.argv.slice(2), known, 'benchmarks/README.md')
    if (positionals.length > 0 && !hasWords) throw new OptionError(`unknown argument ${positionals[0]}`)
    return { values, positionals }
  } catch (err) {
    console.error(`${name}: ${err.message}`)
    process.exit(2)
  }
}

const listOf = options => Object.keys(options).map(name => `--${name}`).join(', ')

/** The help text of a lab. */
exports.usage = function (lab, contenders, own = {}) {
  const line = ([name, { value, help }]) => `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(16)} ${help}`
  const lines = Object.entries({ ...OPTIONS, ...own }).map(line)
  return [`usage: make ${targetOf(lab)} ARGS="…"`, '', ...lines, '', `contenders: ${contenders.join(', ')}`].join('\n')
}

/** A mistake on the command line, with where to read on. */
const OptionError = exports.OptionError = class extends Error {
  constructor (message) {
    super(`${message}${READ_ON}`)
  }
}
