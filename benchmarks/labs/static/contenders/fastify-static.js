'use strict'

exports.package = '@fastify/static'

exports.start = function ([root]) {
  const app = require('fastify')()
  app.register(require('@fastify/static'), { root })
  return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
}
