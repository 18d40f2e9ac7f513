'use strict'

exports.package = 'restana'

exports.start = function () {
  const app = require('restana')()
  for (let i = 0; i < 5; i++) app.use(async (req, res, next) => next())
  app.get('/', async (req, res) => {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8')
    res.send('Hello World')
  })
  return (port, host) => app.start(port, host)
}
