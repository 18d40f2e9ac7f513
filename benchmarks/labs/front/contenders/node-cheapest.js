'use strict'

module.exports = require('../../battle/contenders/node-cheapest')
