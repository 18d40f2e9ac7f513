'use strict'

const { Client, bytes } = require('../../lib/load/client')
const { grpcService, interfaceName, logger } = require('./contenders').agreed

/*
 * One connection of each protocol: `open(load)` gives `{ call(method, args), close() }`.
 */

const sofa = protocol => async function open ({ port }) {
  const client = new (require('sofa-rpc-node').client.RpcClient)({ logger, protocol: require(protocol) })
  const consumer = client.createConsumer({ interfaceName, serverHost: `127.0.0.1:${port}`, version: '1.0.0', group: '' })
  await consumer.ready()
  return { call: (method, args) => consumer.invoke(method, args, { responseTimeout: 10_000 }), close: () => client.close() }
}

exports.bolt = sofa('sofa-bolt-node')
exports.dubbo = sofa('dubbo-remoting')

// The same POST again and again; a call gives the body, in latin1, and rejects where the status is not 200.
exports.http = async function open ({ port, path, type, body }) {
  const request = bytes({ port, method: 'POST', path, headers: { 'Content-Type': type }, body })
  const client = await new Client({ port }, { keepsBody: true }).open()
  const call = () => new Promise((resolve, reject) => client.request(request, isGood => {
    if (isGood) resolve(client.body)
    else if (client.status) reject(new Error(`${client.status} ${client.body}`))
    else reject(Object.assign(new Error('the connection was closed'), { gone: true }))
  }))
  return { call, close: () => client.destroy() }
}

let Calls // of gRPC's own client

exports.grpc = async function open ({ port }) {
  const grpc = require('@grpc/grpc-js')
  Calls ??= grpc.makeGenericClientConstructor(grpcService())
  const client = new Calls(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })
  // an array of mixed values as it was before the server wrapped each of them
  const plain = ({ kind, ...item }) => kind === 'numbers' ? item.numbers.values : item[kind]
  const call = (method, [a, b]) => new Promise((resolve, reject) => client[method]({ a, b }, (err, response) => {
    if (err) reject(new Error(err.details))
    else resolve(response.array ? { ...response, array: response.array.map(plain) } : response.value)
  }))
  await new Promise((resolve, reject) => client.waitForReady(Date.now() + 5000, err => err ? reject(err) : resolve()))
  return { call, close: () => client.close() }
}
