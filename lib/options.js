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

/**
 * Check the options of `new Kone(options)`.
 *
 * @param {Object} options
 * @throws {TypeError} naming the option that has a wrong value
 * @api private
 */
exports.checkOptions = function (options) {
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
