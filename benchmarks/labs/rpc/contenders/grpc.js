'use strict'

exports.package = '@grpc/grpc-js'
exports.about = 'typed protobuf messages'
exports.protocol = 'grpc'

exports.start = function () {
  const grpc = require('@grpc/grpc-js')
  const guarded = require('../service/guarded')
  const methods = require('../service/methods')

  const reply = (method, wrap) => async ({ request }, callback) => {
    try {
      callback(null, wrap(await method(request.a, request.b)))
    } catch (err) {
      callback({ code: grpc.status.INTERNAL, message: err.message })
    }
  }

  const server = new grpc.Server()
  server.addService(require('../service/grpc-service'), {
    ping: reply(methods.ping, text),
    parse: reply(methods.parse, value => ({ ...value, array: value.array.map(item) })),
    noError: reply(guarded(methods.noError), text),
    asyncError: reply(guarded(methods.asyncError), text)
  })
  return (port, host) => new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, grpc.ServerCredentials.createInsecure(), (err, port) => {
      if (err) reject(err)
      else resolve({ listening: true, address: () => ({ port }) })
    })
  })
}

const text = value => ({ value })

// Protobuf has no array of mixed values: each item names which of its fields is set.
function item (value) {
  if (typeof value === 'string') return { string: value }
  if (typeof value === 'number') return { number: value }
  if (typeof value === 'boolean') return { boolean: value }
  return Array.isArray(value) ? { numbers: { values: value } } : { foo: value }
}
