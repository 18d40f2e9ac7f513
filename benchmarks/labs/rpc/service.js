'use strict'

// The first report's complex object, made anew for every call.
const complex = array => ({
  string: 'hello world',
  number: 1024.1,
  boolean: true,
  array,
  obj: { string: 'hello', boolean: true, array: ['hello', 'world'], number: 1024.123, obj: { foo: 'bar' } }
})

/** The first report's methods; asyncError throws where no promise and no caller can catch it. */
exports.methods = {
  ping: () => 'echo',
  parse: () => complex(['hello', 1024.12, true, { foo: 'bar' }, [1, 2, 3]]),
  noError: () => 'ok',
  asyncError: () => new Promise(() => { process.nextTick(() => { throw new Error('async') }) })
}

/** Protobuf has no array of mixed values: each item names which of its fields is set. */
exports.inProtobuf = {
  ...exports.methods,
  parse: () => complex([{ string: 'hello' }, { number: 1024.12 }, { boolean: true }, { foo: { foo: 'bar' } }, { numbers: { values: [1, 2, 3] } }])
}

/** Where HTTP has a method: kone isolates those that may fail. */
exports.pathOf = method => `/${method.endsWith('Error') ? 'guarded' : 'rpc'}/${method}`

let hessian // once it is loaded
const load = () => (hessian ??= require('hessian.js'))

/** The codecs of HTTP. */
exports.codecs = {
  json: { type: 'application/json', decode: JSON.parse, encode: JSON.stringify },
  hessian: { type: 'application/x-hessian', decode: buffer => load().decode(buffer, '2.0'), encode: value => load().encode(value, '2.0') }
}
