'use strict'

module.exports = { ...require('./kone'), codec: 'Hessian' }
