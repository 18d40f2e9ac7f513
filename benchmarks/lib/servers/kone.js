'use strict'

const path = require('node:path')

/**
 * A module of kone, from the checkout that holds this lab or from the one KONE_ROOT names.
 *
 *    const Kone = kone('.')
 *    const router = kone('middleware/router')
 */
module.exports = id => require(path.join(module.exports.root, id))

module.exports.root = process.env.KONE_ROOT || path.join(__dirname, '../../..')
