'use strict'

module.exports = { ...require('./koa'), codec: 'Hessian' }
