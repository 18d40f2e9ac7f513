'use strict'

const fastify = require('fastify')
const serve = require('../../../lib/servers/serve')

const app = fastify()
for (let i = 0; i < 5; i++) app.addHook('onRequest', async () => {})
app.get('/', async () => 'Hello World')

serve((port, host) => app.listen({ port, host }).then(() => app.server))
