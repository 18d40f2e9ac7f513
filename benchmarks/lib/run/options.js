'use strict'

const { execFileSync } = require('node:child_process')

const ROUNDS = 8
const QUICK_ROUNDS = 3

/**
 * What a lab is asked to do on its command line. Everything unknown is refused with a sentence, for a
 * misspelt `--only` would otherwise measure something else than was meant.
 *
 *    parse(['--quick', '--only', 'kone,koa'], { lab: 'battle', contenders: ['kone', 'koa', 'node'] })
 *
 * @param {string[]} argv without node and the script
 * @param {{ lab: string, contenders: string[], own?: object }} of own: options of this lab alone,
 *   `{ name: { help, value? } }`, where value is what the help calls its value
 * @return {{ quick: boolean, help: boolean, rounds: number, only: string[]|null, node: string }} and the lab's own
 * @throws {OptionError} unknown option, missing or bad value, unknown contender
 */
exports.parse = function (argv, { lab, contenders, own = {} }) {
  const options = { quick: false, help: false, rounds: 0, only: null, node: process.execPath }
  for (const name of Object.keys(own)) options[name] = own[name].value ? null : false
  const refuse = message => { throw new OptionError(`${lab}: ${message}`) }

  for (let i = 0; i < argv.length; i++) {
    const [name, inline] = split(argv[i])
    const value = () => {
      const text = inline ?? argv[++i]
      if (!text || (inline === undefined && text.startsWith('--'))) refuse(`${name} needs a value`)
      return text
    }

    switch (name) {
      case '--quick':
      case '--help':
        if (inline !== undefined) refuse(`${name} takes no value`)
        options[name.slice(2)] = true
        break
      case '--rounds':
        options.rounds = wholeNumber(value(), refuse)
        break
      case '--only':
        options.only = [...options.only ?? [], ...names(value(), contenders, refuse)]
        break
      case '--node':
        options.node = value()
        break
      default: {
        const key = name.startsWith('--') ? name.slice(2) : ''
        if (!Object.hasOwn(own, key)) {
          refuse(`unknown ${name.startsWith('-') ? 'option' : 'argument'} ${name}\n\n${usage(lab, contenders, own)}`)
        }
        if (!own[key].value && inline !== undefined) refuse(`${name} takes no value`)
        options[key] = own[key].value ? value() : true
      }
    }
  }

  options.rounds ||= options.quick ? QUICK_ROUNDS : ROUNDS
  return options
}

/**
 * The help text of a lab.
 *
 * @param {string} lab
 * @param {string[]} contenders
 * @param {object} [own] options of this lab alone
 * @return {string}
 */
const usage = exports.usage = function (lab, contenders, own = {}) {
  return [
    `usage: make ${lab === 'battle' ? '' : 'bench-'}${lab} ARGS="…"`,
    '',
    '  --quick          three short rounds, for a first look; the result is marked so',
    `  --rounds N       rounds per contender, at least 3 (default ${ROUNDS})`,
    '  --only a,b       only these contenders',
    '  --node <binary>  the Node that runs the servers (default: this one)',
    ...Object.entries(own).map(([name, { value, help }]) => `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(16)} ${help}`),
    '',
    `contenders: ${contenders.join(', ')}`
  ].join('\n')
}

/**
 * The version of a Node binary.
 *
 *    nodeVersion('/usr/bin/node') // 'v20.20.2'
 *
 * @param {string} binary
 * @return {string}
 * @throws {OptionError} it does not run
 */
exports.nodeVersion = function (binary) {
  if (binary === process.execPath) return process.version
  try {
    const version = execFileSync(binary, ['-v'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    if (/^v\d+\.\d+\.\d+/.test(version)) return version
  } catch {}
  throw new OptionError(`--node ${binary} is not a Node that runs here`)
}

class OptionError extends Error {}
exports.OptionError = OptionError

function split (argument) {
  const at = argument.startsWith('--') ? argument.indexOf('=') : -1
  return at < 0 ? [argument] : [argument.slice(0, at), argument.slice(at + 1)]
}

function wholeNumber (text, refuse) {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 3) refuse(`--rounds must be a whole number of at least 3, not ${text}`)
  return number
}

function names (text, contenders, refuse) {
  const list = text.split(',').map(name => name.trim()).filter(Boolean)
  const unknown = list.filter(name => !contenders.includes(name))
  if (unknown.length) refuse(`unknown contender ${unknown.join(', ')}; there are ${contenders.join(', ')}`)
  return list
}
