'use strict'

const vm = require('node:vm')

const fail = () => { throw new Error('hostile') }

/**
 * Values that throw when they are looked at, each made anew.
 *
 *    for (const [name, make] of hostile()) …
 */
module.exports = function * hostile () {
  const traps = Object.getOwnPropertyNames(Reflect)
  for (const make of [() => ({}), () => new Error('x'), () => () => {}, () => vm.runInNewContext('new Error("x")')]) {
    for (const trap of traps) yield [`${make} ${trap}`, () => new Proxy(make(), { [trap]: fail })]
    yield [`${make}, every trap`, () => new Proxy(make(), Object.fromEntries(traps.map(trap => [trap, fail])))]
    yield [`${make}, revoked`, () => {
      const { proxy, revoke } = Proxy.revocable(make(), {})
      revoke()
      return proxy
    }]
    for (const name of [
      'status', 'statusCode', 'headers', 'expose', 'message', 'stack', 'name', 'code', 'cause', 'constructor', 'toString', 'toJSON',
      Symbol.toStringTag, Symbol.toPrimitive
    ]) {
      yield [`${make} ${String(name)}`, () => Object.defineProperty(make(), name, { get: fail, set: fail, enumerable: true })]
    }
  }
  yield ['a frozen error', () => Object.freeze(new Error('x'))]
}
