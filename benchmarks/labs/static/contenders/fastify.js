'use strict'

const fastify = require('fastify')
const serve = require('../../../lib/servers/serve')

const app = fastify()
app.register(require('@fastify/static'), { root: process.argv[2] })

serve((port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server))
