'use strict'

const sizeOf = require('./bytes')
const { given, misuse } = require('./usage-error')
const nearest = require('./nearest')

/**
 * Check the options of a middleware when it is registered: their types, their ranges and their names.
 *
 *    const { max = 2500, driver } = check('rateLimit', options, {
 *      max: number({ min: 0 }),
 *      driver: oneOf('memory', 'redis')
 *    })
 *
 * An option that is `undefined` counts as left out. So does `null` in place of all options. `null`
 * as the value of one option is a value: its default does not apply.
 *
 * @param {string} owner name of the middleware, for the message
 * @param {object|null|undefined} options
 * @param {Record<string, Rule>} rules one for each option
 * @return {object} the options
 * @throws {TypeError} naming the option: what it must be, or which name was probably meant
 */
function check (owner, options, rules) {
  options ??= {}
  const refusal = shape(rules).refuse(options, 'options')
  if (refusal !== undefined) throw misuse(owner, refusal)
  return options
}

/**
 * What a value must be.
 */
class Rule {
  /**
   * @param {string} must in words, after "options.x must be"
   * @param {function(*): boolean} test
   */
  constructor (must, test) {
    this.must = must
    this.test = test
  }

  /**
   * @param {*} value
   * @param {string} path its name, for the message
   * @return {string|undefined} why it is refused
   */
  refuse (value, path) {
    if (!this.test(value)) return mustBe(path, this.must, value)
  }

  /**
   * This or another rule. An object that only its names or values make unfit for one of the two is
   * judged by that one, because its message says more.
   */
  or (other) {
    const either = new Rule(`${this.must} or ${other.must}`)
    either.refuse = (value, path) => {
      const reasons = [this.refuse(value, path), other.refuse(value, path)]
      if (reasons.includes(undefined)) return undefined
      return reasons.find(reason => !reason.startsWith(`${path} must be`)) ?? mustBe(path, either.must, value)
    }
    return either
  }
}

function mustBe (path, what, value) {
  return `${path} must be ${what}, not ${given(value)}`
}

const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value)

const any = new Rule('anything', () => true)
const string = new Rule('a string', value => typeof value === 'string')
const text = new Rule('a non-empty string', value => typeof value === 'string' && value !== '')
const boolean = new Rule('true or false', value => typeof value === 'boolean')
const fn = new Rule('a function', value => typeof value === 'function')
const object = new Rule('an object', isObject)
const off = new Rule('false', value => value === false)
const none = new Rule('null', value => value === null)
const path = new Rule("a path that begins with '/'", value => typeof value === 'string' && value[0] === '/')
const size = new Rule("a number of bytes or a string such as '1mb'", value => sizeOf(value) !== undefined)

/**
 * @param {...(string|number|boolean)} values
 */
const oneOf = (...values) => {
  const words = values.map(value => typeof value === 'string' ? `'${value}'` : String(value))
  return new Rule(words.join(words.length > 2 ? ', ' : ' or ').replace(/, (?=[^,]*$)/, ' or '),
    value => values.includes(value))
}

/**
 * @param {{ min?: number, max?: number, of?: string }} [range] `of`: what it counts, for the message
 */
const number = ({ min = -Infinity, max = Number.MAX_VALUE, of } = {}) =>
  new Rule(inWords('a number', of, min, max),
    value => typeof value === 'number' && value >= min && value <= max)

const integer = ({ min = -Infinity, max = Number.MAX_SAFE_INTEGER, of } = {}) =>
  new Rule(inWords('a whole number', of, min, max),
    value => Number.isInteger(value) && value >= min && value <= max)

function inWords (noun, of, min, max) {
  const unit = of === undefined ? '' : ` of ${of}`
  if (max >= Number.MAX_SAFE_INTEGER) return min === -Infinity ? noun + unit : `${noun}${unit} from ${min} on`
  return `${noun}${unit} from ${min} to ${max}`
}

/**
 * @param {Rule} rule for each element
 * @param {string} must what they are, in words
 */
const list = (rule, must) => {
  const ruled = new Rule(`an array of ${must}`, Array.isArray)
  ruled.refuse = (value, path) => {
    if (!Array.isArray(value) || value.some(one => rule.refuse(one, path) !== undefined)) {
      return mustBe(path, ruled.must, value)
    }
  }
  return ruled
}

/**
 * An object whose names are known.
 *
 * @param {Record<string, Rule>} rules
 * @param {{ open?: boolean }} [options] open: other names are fine, too
 */
const shape = (rules, { open = false } = {}) => {
  const names = Object.keys(rules)
  const ruled = new Rule('an object', isObject)
  ruled.refuse = (value, path) => {
    if (!isObject(value)) return mustBe(path, 'an object', value)
    for (const name of Object.keys(value)) {
      if (!open && !Object.hasOwn(rules, name)) return unknown(`${path}.${name}`, nearest(name, names), names)
    }
    for (const name of names) {
      const one = value[name]
      const refusal = one === undefined ? undefined : rules[name].refuse(one, `${path}.${name}`)
      if (refusal !== undefined) return refusal
    }
  }
  return ruled
}

function unknown (path, meant, names) {
  if (meant !== undefined) return `${path} is unknown: did you mean \`${meant}\`?`
  return names.length === 0 ? `${path} is unknown: there are no options` : `${path} is unknown, only ${names.join(', ')}`
}

/**
 * An object of anything by name, such as filters: each value by one rule.
 *
 * @param {Rule} rule
 */
const record = rule => {
  const ruled = new Rule('an object', isObject)
  ruled.refuse = (value, path) => {
    if (!isObject(value)) return mustBe(path, 'an object', value)
    for (const name of Object.keys(value)) {
      const refusal = rule.refuse(value[name], `${path}.${name}`)
      if (refusal !== undefined) return refusal
    }
  }
  return ruled
}

/**
 * An option of the replaced package that this middleware does not support.
 *
 * @param {string} instead what to use, a sentence
 */
const refused = instead => {
  const ruled = new Rule('left out', () => false)
  ruled.refuse = (value, path) => `${path} is not supported: ${instead}`
  return ruled
}

/**
 * One rule for several options.
 *
 *    ...each(size, 'jsonLimit', 'formLimit')   // jsonLimit: size, formLimit: size
 *
 * @param {Rule} rule
 * @param {...string} names
 * @return {Record<string, Rule>}
 */
const each = (rule, ...names) => Object.fromEntries(names.map(name => [name, rule]))

module.exports = {
  check,
  Rule,
  any,
  boolean,
  each,
  fn,
  integer,
  isObject,
  list,
  none,
  number,
  object,
  off,
  oneOf,
  path,
  record,
  refused,
  shape,
  size,
  string,
  text
}
