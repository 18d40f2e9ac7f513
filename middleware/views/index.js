'use strict'

/** `kone/middleware/template` under the name of koa-views. */
module.exports = require('../template')
