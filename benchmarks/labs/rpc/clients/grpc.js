'use strict'

const grpc = require('@grpc/grpc-js')
const service = require('../service/grpc-service')

const Client = grpc.makeGenericClientConstructor(service)

// An array of mixed values as it was before the server wrapped each of them.
const plain = ({ kind, ...item }) => kind === 'numbers' ? item.numbers.values : item[kind]

/**
 * One connection of gRPC's own client.
 *
 * @param {{ port: number }} load
 * @return {Promise<{ call: Function, close: Function }>}
 */
exports.open = function ({ port }) {
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })
  const call = (method, [a, b]) => new Promise((resolve, reject) => {
    client[method]({ a, b }, (err, response) => {
      if (err) reject(new Error(err.details))
      else resolve(response.array ? { ...response, array: response.array.map(plain) } : response.value)
    })
  })
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + 5000, err => err ? reject(err) : resolve({ call, close: () => client.close() }))
  })
}
