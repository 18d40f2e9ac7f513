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
   * @param {Function} [inside] (value, path) => why a value is refused that passes the test, or undefined
   */
  constructor (must, test, inside = () => undefined) {
    this.must = must
    this.test = test
    this.inside = inside
  }

  /**
   * @param {*} value
   * @param {string} path its name, for the message
   * @return {string|undefined} why it is refused
   */
  refuse (value, path) {
    return this.test(value) ? this.inside(value, path) : `${path} must be ${this.must}, not ${given(value)}`
  }

  /**
   * This or another rule. An object that only its names or values make unfit for one of the two is
   * judged by that one, because its message says more.
   */
  or (other) {
    return new Rule(`${this.must} or ${other.must}`, value => this.test(value) || other.test(value), (value, path) => {
      const [first, ...others] = [this, other].filter(rule => rule.test(value)).map(rule => rule.inside(value, path))
      return others.includes(undefined) ? undefined : first
    })
  }
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
const list = (rule, must) => new Rule(`an array of ${must}`,
  value => Array.isArray(value) && value.every(one => rule.refuse(one, '') === undefined))

/**
 * An object whose names are known.
 *
 * @param {Record<string, Rule>} rules
 * @param {{ open?: boolean }} [options] open: other names are fine, too
 */
const shape = (rules, { open = false } = {}) => {
  const names = Object.keys(rules)
  return new Rule('an object', isObject, (value, path) => {
    const other = open ? undefined : Object.keys(value).find(name => !Object.hasOwn(rules, name))
    if (other !== undefined) return unknown(`${path}.${other}`, nearest(other, names), names)
    return names.filter(name => value[name] !== undefined)
      .map(name => rules[name].refuse(value[name], `${path}.${name}`)).find(Boolean)
  })
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
const record = rule => new Rule('an object', isObject, (value, path) =>
  Object.keys(value).map(name => rule.refuse(value[name], `${path}.${name}`)).find(Boolean))

/**
 * An option of the replaced package that this middleware does not support.
 *
 * @param {string} instead what to use, a sentence
 */
const refused = instead => new Rule('left out', () => true, (value, path) => `${path} is not supported: ${instead}`)

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
