'use strict'

const restana = require('restana')
const serve = require('../../../lib/servers/serve')

const app = restana()
for (let i = 0; i < 5; i++) app.use(async (req, res, next) => next())
app.get('/', async (req, res) => {
  res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  res.send('Hello World')
})

serve((port, host) => app.start(port, host))
