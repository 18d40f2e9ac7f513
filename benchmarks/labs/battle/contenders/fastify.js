'use strict'

exports.package = 'fastify'

exports.start = function () {
  const app = require('fastify')()
  for (let i = 0; i < 5; i++) app.addHook('onRequest', async () => {})
  app.get('/', async () => 'Hello World')
  return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
}
