'use strict'

exports.package = '@fastify/static'

exports.descriptorsEach = 2 // one for the connection, one for the file while it is sent

exports.start = function ([root]) {
  const app = require('fastify')()
  app.register(require('@fastify/static'), { root })
  return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
}
