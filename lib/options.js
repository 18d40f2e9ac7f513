'use strict'

const { AsyncLocalStorage } = require('async_hooks')
const editDistance = require('./edit-distance')
const { given, misuse } = require('./usage-error')
const { checkProxy } = require('./trusted-proxies')

const notNegative = ['a number that is not negative', value => typeof value === 'number' && value >= 0]

/** Name of an option → what it must be, and whether a value is that. */
const RULES = {
  env: ['a string', value => typeof value === 'string'],
  keys: ['a list of strings, one at least, or a Keygrip', value => {
    return Array.isArray(value) ? value.length > 0 && value.every(isKey) : typeof value.sign === 'function'
  }],
  proxyIpHeader: ['a string', value => typeof value === 'string'],
  maxIpsCount: notNegative,
  subdomainOffset: notNegative,
  compose: ['a function', value => typeof value === 'function'],
  http1: ['true or false', value => typeof value === 'boolean'],
  asyncLocalStorage: ['true, false or an AsyncLocalStorage', value => {
    return typeof value === 'boolean' || isStorage(value)
  }],
  Promise: ['a class of promises', value => {
    return typeof value === 'function' && typeof value.resolve === 'function' &&
      typeof value.prototype?.then === 'function'
  }]
}

/** What node:crypto takes as one. */
function isKey (value) {
  return typeof value === 'string' || ArrayBuffer.isView(value)
}

/** Every option. */
const KNOWN = exports.names = ['proxy', ...Object.keys(RULES)]

/**
 * Check the options of `new Kone(options)`. Unknown names are ignored, as in Koa, unless they are
 * a misspelt known one.
 *
 * @throws {TypeError} naming the option that has a wrong value or a misspelt name
 */
exports.checkOptions = function (options) {
  for (const name of Object.keys(options)) {
    if (KNOWN.includes(name)) continue
    const meant = KNOWN.find(known => isMisspelt(name.toLowerCase(), known.toLowerCase()))
    if (meant !== undefined) throw misuse('application', `options.${name} is unknown: did you mean \`${meant}\`?`)
  }
  checkProxy(options.proxy)
  for (const [name, [what, holds]] of Object.entries(RULES)) {
    const value = options[name]
    if (value === undefined || value === null || holds(value)) continue
    const shown = name === 'keys' && typeof value === 'string' ? 'a string' : given(value) // no key in a log
    throw misuse('application', `options.${name} must be ${what}, not ${shown}`)
  }
}

/**
 * Check the options of a method that Koa lacks.
 *
 *    const { timeout } = checkCall('application', 'app.close', options, { timeout: exports.notNegative })
 *
 * @param {string} page of docs/api/
 * @param {string} call the method
 * @param {object | null | undefined} options null and undefined count as left out
 * @param {Record<string, Array>} rules name of an option → what it must be, and whether a value is that
 * @return {object} the options
 * @throws {TypeError} naming the option
 */
exports.checkCall = function (page, call, options, rules) {
  options ??= {}
  if (typeof options !== 'object') throw misuse(page, `${call}(options): options must be an object, not ${given(options)}`)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(rules, name)) continue
    throw misuse(page, `${call}({ ${name} }): there is no such option, expected ${Object.keys(rules).join(', ')}`)
  }
  for (const [name, [what, holds]] of Object.entries(rules)) {
    const value = options[name]
    if (value !== undefined && !holds(value)) throw misuse(page, `${call}({ ${name} }): ${name} must be ${what}, not ${given(value)}`)
  }
  return options
}

exports.notNegative = notNegative

// One edit, or two of a long name; of a short one only another order of its letters: `http2` is not a
// misspelt `http1`.
function isMisspelt (name, known) {
  if (name === known) return true
  const letters = text => text.replace(/\d/g, '')
  if (letters(name) === letters(known)) return false
  if (known.length < 4) return [...name].sort().join() === [...known].sort().join()
  return editDistance(name, known) <= (known.length < 8 ? 1 : 2)
}

/**
 * @return {boolean} whether it has the methods of an AsyncLocalStorage
 */
const isStorage = exports.isStorage = function (value) {
  return value instanceof AsyncLocalStorage ||
    (typeof value?.run === 'function' && typeof value.getStore === 'function')
}
