'use strict'

/**
 * The service as sofa-rpc-node serves it.
 *
 * @param {'bolt'|'dubbo'} protocol
 * @return {(port: number) => Promise<import('node:net').Server>}
 */
module.exports = protocol => async port => {
  const { RpcServer } = require('sofa-rpc-node').server
  const guarded = require('./guarded')
  const { ping, parse, noError, asyncError } = require('./methods')
  const { INTERFACE, logger, protocols } = require('./sofa-options')

  const server = new RpcServer({ logger, port, protocol: protocols[protocol](), version: '1.0.0', group: '' })
  server.on('error', () => {}) // of asyncError: it is the caller who gets it
  server.addService({ interfaceName: INTERFACE }, {
    ping: async () => ping(),
    parse: async (a, b) => parse(a, b),
    noError: guarded(noError),
    asyncError: guarded(asyncError)
  })
  await server.start()
  return server._servers[0]
}
