'use strict'

const { Hono } = require('hono')
const { serve: listen } = require('@hono/node-server')
const serve = require('../../../lib/servers/serve')

const app = new Hono()
for (let i = 0; i < 5; i++) app.use(async (c, next) => { await next() })
app.get('/', async c => c.text('Hello World'))

serve((port, hostname) => listen({ fetch: app.fetch, port, hostname }))
