'use strict'

module.exports = { ...require('./kone'), about: 'the call without the middleware that isolates errors' }
