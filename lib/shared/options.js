'use strict'

const { isMisspelt, nearest } = require('./nearest')
const { given } = require('./usage-error')

const UNITS = { ms: 'milliseconds', s: 'seconds' }

/**
 * The options of a function. Each is described once, by a rule: from it come the check, the default, and, by
 * `make index`, the line of the manual and the type.
 *
 *    const OPTIONS = new Options('favicon', {
 *      maxAge: number({ min: 0, unit: 'ms' }).says('how long a client may cache the icon', { default: 86_400_000 }),
 *      mime: text.says('the type of the icon', { default: 'image/x-icon' })
 *    })
 *    const { maxAge, mime } = OPTIONS.check(options)
 *
 * @api private
 */
class Options {
  /**
   * @param {string} owner the function, for the message
   * @param {Record<string, Rule> | Shape} rules one for each option
   * @param {string} [page] of the manual
   */
  constructor (owner, rules, page = `middleware/${/^\w+/.exec(owner)}/README`) {
    this.owner = owner
    this.rule = rules instanceof Rule ? rules : shape(rules)
    this.page = page
  }

  /**
   * Check the options when the function is called: their types, their ranges and their names.
   *
   * An option that is `undefined` counts as left out. So does `null` in place of all options. `null` as the value of
   * one option is a value: its default does not apply.
   *
   * @param {object | null | undefined} options
   * @return {object} another one, with the defaults
   * @throws {TypeError} naming the option: what it must be, or which name was probably meant
   */
  check (options) {
    options ??= {}
    const refusal = this.rule.refusal(options, 'options')
    if (refusal === undefined) return this.rule.fill(options)
    throw new TypeError(`${this.owner && `${this.owner}: `}${refusal} (kone/${this.page}.md)`)
  }
}

/**
 * What a value must be.
 */
class Rule {
  /**
   * @param {string} must in words, after "options.x must be"
   * @param {function(*): boolean} test
   * @param {Function} [inside] (value, path) => why a value is refused that passes the test, or undefined
   * @param {string} [type] in TypeScript
   * @param {string} [unit]
   */
  constructor (must, test, inside = () => undefined, type = 'any', unit = undefined) {
    this.must = must
    this.test = test
    this.inside = inside
    this.type = type
    this.unit = unit
    this.default = this.alias = undefined // see says()
    this.members = undefined // of a Shape
  }

  /**
   * The same rule with what the manual says of the option.
   *
   * @param {string} sentence what the option is for, without unit and default
   * @param {object} [more] `default`, which `check` puts in the place of an option that is left out; `otherwise`, the
   *   default in words; `type` in TypeScript, for what no rule can say; `unit`; `isRequired`; `alias`, another name
   * @return {Rule}
   */
  says (sentence, more) {
    return Object.assign(Object.create(this), { sentence, ...more })
  }

  /**
   * @param {*} value
   * @param {string} path its name, for the message
   * @return {string|undefined} why it is refused
   */
  refusal (value, path) {
    return this.test(value) ? this.inside(value, path) : `${path} must be ${this.must}, not ${given(value)}`
  }

  /** @return {*} the value, or what counts where it is left out */
  fill (value) {
    return value === undefined ? this.default : value
  }

  /**
   * This or another rule. An object that only its names or values make unfit for one of the two is
   * judged by that one, because its message says more.
   */
  or (other) {
    const either = new Rule(`${this.must} or ${other.must}`, value => this.test(value) || other.test(value), (value, path) => {
      const [first, ...others] = [this, other].filter(rule => rule.test(value)).map(rule => rule.inside(value, path))
      return others.includes(undefined) ? undefined : first
    }, union([this, other]), this.unit ?? other.unit)
    return Object.assign(either, { members: this.members ?? other.members })
  }
}

function union (rules) {
  const types = new Set(rules.flatMap(({ type }) => /[({<]/.test(type) ? type : type.split(' | ')))
  types.delete('never')
  return [...types].join(' | ') || 'never'
}

const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value)
const isOptions = value => isObject(value) && typeof value.then !== 'function' // a promise has no option: it needs await
const ruleOf = (type, must, test) => new Rule(must, test, undefined, type)

const any = ruleOf('any', 'anything', () => true)
const string = ruleOf('string', 'a string', value => typeof value === 'string')
const text = ruleOf('string', 'a non-empty string', value => typeof value === 'string' && value !== '')
const boolean = ruleOf('boolean', 'true or false', value => typeof value === 'boolean')
const fn = ruleOf('(...args: any[]) => any', 'a function', value => typeof value === 'function')
const object = ruleOf('object', 'an object', isObject)
const off = ruleOf('false', 'false', value => value === false)
const none = ruleOf('null', 'null', value => value === null)
const path = ruleOf('string', "a path that begins with '/'", value => typeof value === 'string' && value[0] === '/')

/** RFC 9110, 5.1 and 5.5: node refuses any other when a response has it. */
const fieldName = ruleOf('string', 'the name of a header', value => typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value))
const fieldValue = ruleOf('string', 'a string without line breaks, control characters and characters beyond U+00FF',
  value => typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value))

const oneOf = (...values) => {
  const words = values.map(value => typeof value === 'string' ? `'${value}'` : String(value))
  return ruleOf(words.join(' | '), words.join(words.length > 2 ? ', ' : ' or ').replace(/, (?=[^,]*$)/, ' or '),
    value => values.includes(value))
}

/**
 * @param {{ min?: number, max?: number, unit?: string }} [range] `unit`: what it counts, or ms and s
 */
const number = ({ min = -Infinity, max = Number.MAX_VALUE, unit = undefined } = {}) => new Rule(inWords('a number', unit, min, max),
  value => typeof value === 'number' && value >= min && value <= max, undefined, 'number', unit)

const integer = ({ min = -Infinity, max = Number.MAX_SAFE_INTEGER, unit = undefined } = {}) =>
  new Rule(inWords('a whole number', unit, min, max),
    value => Number.isInteger(value) && value >= min && value <= max, undefined, 'number', unit)

function inWords (noun, unit, min, max) {
  const what = unit === undefined ? noun : `${noun} of ${UNITS[unit] ?? unit}`
  if (max >= Number.MAX_SAFE_INTEGER) return min === -Infinity ? what : `${what} from ${min} on`
  return `${what} from ${min} to ${max}`
}

/**
 * @param {Rule} rule for each element
 * @param {string} must what they are, in words
 */
const list = (rule, must) => ruleOf(/[ (]/.test(rule.type) ? `Array<${rule.type}>` : `${rule.type}[]`,
  `an array of ${must}`, value => Array.isArray(value) && value.every(one => rule.refusal(one, '') === undefined))

/** A rule for an object whose names are known. */
class Shape extends Rule {
  /**
   * @param {Record<string, Rule>} members
   * @param {{ open?: boolean | string }} [options] see shape()
   */
  constructor (members, { open = false } = {}) {
    super('an object', isOptions, undefined, 'object')
    const entries = Object.entries(members).map(([name, rule]) => ({ name, rule }))
    this.members = members
    this.open = open
    this.known = new Map(entries.flatMap(one => [one.name].concat(one.rule.alias ?? []).map(name => [name, one])))
    this.names = [...this.known.keys()]
    this.inner = entries.filter(({ rule }) => rule instanceof Shape)
    this.defaults = {}
    for (const { name, rule } of entries) if (rule.fill() !== undefined) this.defaults[name] = rule.fill()
    this.hasDefaults = Object.keys(this.defaults).length > 0
  }

  inside = (value, path) => {
    for (const name of this.namesIn(value)) {
      const known = this.known.get(name)
      const refusal = known === undefined
        ? this.refusalOfName(value, name, path)
        : value[name] === undefined ? undefined : known.rule.refusal(value[name], `${path}.${name}`)
      if (refusal !== undefined) return refusal
    }
  }

  /** Of an object of a class, too: `for in` leaves its getters out. */
  namesIn (value) {
    const names = []
    for (const name in value) names.push(name)
    for (const name of this.names) if (value[name] !== undefined && !names.includes(name)) names.push(name)
    return names
  }

  refusalOfName (value, name, path) {
    if (this.open === true || !Object.hasOwn(value, name)) return
    if (this.open === MISSPELT && !this.names.some(known => isMisspelt(name, known))) return
    return unknown(`${path}.${name}`, nearest(name, this.names), this.names)
  }

  fill (value) {
    if (value === undefined) return this.hasDefaults ? this.fill({}) : undefined
    if (!isObject(value)) return value
    const filled = this.open === false ? { ...this.defaults } : { ...value, ...this.defaults }
    for (const [spelling, { name }] of this.known) {
      // of an option and its other name, the option itself counts
      const isUsed = name === spelling || value[name] === undefined
      if (isUsed && value[spelling] !== undefined) filled[name] = value[spelling]
    }
    for (const { name, rule } of this.inner) {
      if (name in filled) filled[name] = rule.fill(value[name])
    }
    return filled
  }
}

const MISSPELT = 'misspelt'

/**
 * @param {Record<string, Rule>} members
 * @param {{ open?: boolean | string }} [options] open: other names are fine, too; MISSPELT: but for misspelt ones
 */
const shape = (members, options) => new Shape(members, options)

function unknown (path, meant, names) {
  if (meant !== undefined) return `${path} is unknown: did you mean \`${meant}\`?`
  return names.length === 0 ? `${path} is unknown: there are no options` : `${path} is unknown, only ${names.join(', ')}`
}

/** An object of anything by name, such as filters: each value by one rule. */
const record = rule => new Rule('an object', isObject, (value, path) =>
  Object.keys(value).map(name => rule.refusal(value[name], `${path}.${name}`)).find(Boolean), `Record<string, ${rule.type}>`)

/** An option of the replaced package that is not supported; `instead`: what to use, a sentence. */
const refused = instead => new Rule('left out', () => true, (value, path) => `${path} is not supported: ${instead}`, 'never')

/** One rule for several options: `...each(size, 'jsonLimit', 'formLimit')`. */
const each = (rule, ...names) => Object.fromEntries(names.map(name => [name, rule]))

/* eslint-disable @stylistic/object-property-newline */
module.exports = {
  MISSPELT, Options, Rule, each, isObject, any, boolean, fieldName, fieldValue, fn, integer, none, number, object, off,
  oneOf, path, list, record, refused, shape, string, text
}
