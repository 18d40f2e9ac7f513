'use strict'

const take = require('../../../../lib/servers/take-2017')

exports.package = 'toa'

exports.start = function () {
  const app = new (take('toa'))()
  for (let i = 0; i < 5; i++) app.use(() => Promise.resolve())
  app.use(function () {
    this.body = 'Hello World'
    return Promise.resolve()
  })
  return app
}
