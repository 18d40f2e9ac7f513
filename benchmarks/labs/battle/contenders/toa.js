'use strict'

exports.package = 'toa'
exports.about = 'its middleware run in sequence, not as an onion'

exports.start = function () {
  const app = new (require('toa'))()
  for (let i = 0; i < 5; i++) app.use(async function () {})
  app.use(async function () { this.body = 'Hello World' })
  return app
}
