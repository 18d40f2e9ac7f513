'use strict'

// Without a root it is `return 200`.
module.exports = require('../../static/contenders/nginx')
