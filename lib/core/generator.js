'use strict'

const GeneratorFunction = Object.getPrototypeOf(function * () {}).constructor

/**
 * @return {boolean} whether `fn` is a generator function, of another realm too
 */
exports.isGeneratorFunction = function (fn) {
  return fn instanceof GeneratorFunction ||
    Object.prototype.toString.call(fn) === '[object GeneratorFunction]'
}

/**
 * Koa 1's `function * (next) { yield next }` as `(ctx, next) => Promise`.
 *
 * @return {Function} middleware
 */
exports.convert = function (fn) {
  const co = require('co')
  const converted = function (ctx, next) {
    return co.call(ctx, fn.call(ctx, downstream(next)))
  }
  converted._name = fn._name || fn.name
  return converted
}

function * downstream (next) {
  return yield next()
}
