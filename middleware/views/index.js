'use strict'

/** koa-views' name of `kone/middleware/template`. */
module.exports = require('../template')
