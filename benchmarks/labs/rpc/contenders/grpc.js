'use strict'

const grpc = require('@grpc/grpc-js')
const serve = require('../../../lib/servers/serve')
const service = require('./grpc-service')
const guarded = require('./guarded')
const methods = require('./methods')

const reply = (method, wrap) => async ({ request }, callback) => {
  try {
    callback(null, wrap(await method(request.a, request.b)))
  } catch (err) {
    callback({ code: grpc.status.INTERNAL, message: err.message })
  }
}
const text = value => ({ value })

// Its own shape of an array of mixed values: each says which of its fields it has.
const item = value => {
  if (typeof value === 'string') return { string: value }
  if (typeof value === 'number') return { number: value }
  if (typeof value === 'boolean') return { boolean: value }
  return Array.isArray(value) ? { numbers: { values: value } } : { foo: value }
}

const server = new grpc.Server()
server.addService(service, {
  ping: reply(methods.ping, text),
  parse: reply(methods.parse, value => ({ ...value, array: value.array.map(item) })),
  noError: reply(guarded(methods.noError), text),
  asyncError: reply(guarded(methods.asyncError), text)
})

serve((port, host) => new Promise((resolve, reject) => {
  server.bindAsync(`${host}:${port}`, grpc.ServerCredentials.createInsecure(), (err, port) => {
    if (err) reject(err)
    else resolve({ listening: true, address: () => ({ port }) })
  })
}))
