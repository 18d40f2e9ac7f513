'use strict'

/*
 * The methods of the first report's service, as every contender offers them.
 */

exports.ping = () => 'echo'

// Its complex object, made anew for every call.
exports.parse = (a, b) => ({
  string: 'hello world',
  number: 1024.1,
  boolean: true,
  array: ['hello', 1024.12, true, { foo: 'bar' }, [1, 2, 3]],
  obj: {
    string: 'hello',
    boolean: true,
    array: ['hello', 'world'],
    number: 1024.123,
    obj: { foo: 'bar' }
  }
})

exports.noError = () => 'ok'

// Thrown where no promise and no caller can catch it.
exports.asyncError = () => new Promise(() => {
  process.nextTick(() => { throw new Error('async') })
})
