'use strict'

const { RpcClient } = require('sofa-rpc-node').client
const { INTERFACE, logger, protocols } = require('../service/sofa-options')

/**
 * One connection of sofa-rpc-node's own client.
 *
 * @param {{ port: number, protocol: string }} load
 * @return {Promise<{ call: Function, close: Function }>}
 */
exports.open = async function ({ port, protocol }) {
  const client = new RpcClient({ logger, protocol: protocols[protocol]() })
  const consumer = client.createConsumer({
    interfaceName: INTERFACE,
    serverHost: `127.0.0.1:${port}`,
    version: '1.0.0',
    group: ''
  })
  await consumer.ready()
  return {
    call: (method, args) => consumer.invoke(method, args, { responseTimeout: 10_000 }),
    close: () => client.close()
  }
}
