'use strict'

const { RpcServer } = require('sofa-rpc-node').server
const serve = require('../../../lib/servers/serve')
const guarded = require('./guarded')
const { ping, parse, noError, asyncError } = require('./methods')
const { INTERFACE, logger, protocols } = require('./sofa-options')

// node sofa.js bolt|dubbo
serve(async port => {
  const server = new RpcServer({ logger, port, protocol: protocols[process.argv[2]](), version: '1.0.0', group: '' })
  server.on('error', () => {}) // of asyncError: the caller is told
  server.addService({ interfaceName: INTERFACE }, {
    ping: async () => ping(),
    parse: async (a, b) => parse(a, b),
    noError: guarded(noError),
    asyncError: guarded(asyncError)
  })
  await server.start()
  return server._servers[0]
})
