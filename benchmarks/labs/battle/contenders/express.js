'use strict'

exports.package = 'express'

exports.start = function () {
  const app = require('express')()
  for (let i = 0; i < 5; i++) app.use((req, res, next) => next())
  return app.use((req, res) => res.type('text').send('Hello World'))
}
