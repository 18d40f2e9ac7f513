'use strict'

const take = require('../../../../lib/servers/take-2017')

exports.package = 'express'

exports.start = function () {
  const app = take('express')()
  for (let i = 0; i < 5; i++) app.use((req, res, next) => next())
  return app.use((req, res) => { res.type('text').send('Hello World') })
}
