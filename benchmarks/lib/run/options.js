'use strict'

const { execFileSync } = require('node:child_process')
const { parseArgs } = require('node:util')
const flags = require('../../../command/flags')
const { binary } = require('../servers/binaries')

/** Rounds of a result: of as many coins all fall on one side in 3 of 100 tries. */
const ROUNDS = exports.ROUNDS = 6
const LOOK = 3 // rounds of a first look

/** Where an error of the lab points to. */
const PAGE = exports.PAGE = ' (benchmarks/README.md)'

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
  return [`usage: make ${exports.targetOf(lab)} ARGS="…"`, '', ...lines, '', `contenders: ${contenders.join(', ')}`].join('\n')
}

/** What make calls a lab. */
exports.targetOf = lab => lab === 'battle' ? lab : `bench-${lab}`

/**
 * The binary that `--node` names: a file, or the newest of a version, which is downloaded where it is missing.
 *
 *    await nodeBinary('26') // '/home/ada/.cache/kone/node/26.10.0/node'
 */
exports.nodeBinary = async function (text) {
  if (!/^\d+(\.\d+){0,2}$/.test(text)) return text
  if (text === process.versions.node || text === process.versions.node.split('.')[0]) return process.execPath
  try {
    return (await binary(text)).file
  } catch (err) {
    throw new OptionError(`--node ${text}: ${err.message}`)
  }
}

/** The version of a Node binary: 'v20.20.2'. */
exports.nodeVersion = function (binary) {
  if (binary === process.execPath) return process.version
  try {
    const version = execFileSync(binary, ['-v'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    if (/^v\d+\.\d+\.\d+/.test(version)) return version
  } catch {}
  throw new OptionError(`--node must be a major version or a binary that runs here, as 26, not ${binary}`)
}

/** A mistake on the command line, with where to read on. */
const OptionError = exports.OptionError = class extends Error {
  constructor (message) {
    super(`${message}${PAGE}`)
  }
}
