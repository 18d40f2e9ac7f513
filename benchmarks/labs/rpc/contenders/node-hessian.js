'use strict'

module.exports = { ...require('./node'), codec: 'Hessian' }
