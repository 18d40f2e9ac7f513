'use strict'

module.exports = require('./kone')
