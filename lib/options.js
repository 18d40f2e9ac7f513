'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')
const util = require('node:util')
const { checkProxy } = require('./trust')

const notNegative = ['a number that is not negative', value => value >= 0]

/** Name of an option → what it must be, and whether a value is that. */
const RULES = {
  env: ['a string', value => typeof value === 'string'],
  keys: ['a list of strings or a Keygrip', value => {
    return Array.isArray(value) ? value.length > 0 : typeof value.sign === 'function'
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

/** Every option. */
const names = exports.names = ['proxy', ...Object.keys(RULES)]

/**
 * Check the options of `new Kone(options)`. As in Koa an unknown name is ignored, unless it is a
 * near miss of a known one.
 *
 * @param {Object} options
 * @throws {TypeError} naming the option that has a wrong value or is misspelt
 * @api private
 */
exports.checkOptions = function (options) {
  for (const name of Object.keys(options)) {
    const meant = names.includes(name) ? undefined : names.find(known => isNearMiss(name, known))
    if (meant !== undefined) throw new TypeError(`options.${name} is unknown: did you mean \`${meant}\`?`)
  }
  checkProxy(options.proxy)
  for (const [name, [what, holds]] of Object.entries(RULES)) {
    const value = options[name]
    if (value === undefined || value === null || holds(value)) continue
    throw new TypeError(`options.${name} must be ${what}, not ${util.inspect(value)}`)
  }
}

/**
 * @param {*} value
 * @return {Boolean} whether it serves as an AsyncLocalStorage
 * @api private
 */
const isStorage = exports.isStorage = function (value) {
  return value instanceof AsyncLocalStorage ||
    (typeof value?.run === 'function' && typeof value.getStore === 'function')
}

// One letter more, less or another, two that changed places, or other capitals.
function isNearMiss (name, known) {
  const [a, b] = [name.toLowerCase(), known.toLowerCase()]
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [restA, restB] = [a.slice(start), b.slice(start)]
  return restA === restB || restA.slice(1) === restB || restA === restB.slice(1) ||
    (restA.length > 0 && restA.slice(1) === restB.slice(1)) ||
    (restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2))
}
