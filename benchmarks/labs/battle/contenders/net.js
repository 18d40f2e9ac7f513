'use strict'

module.exports = require('../../front/contenders/net')
