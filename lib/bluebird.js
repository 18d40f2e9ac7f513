'use strict'

const Bluebird = require('bluebird')
const Application = require('./application')

/**
 * The same application with bluebird's promises preset.
 *
 *    const Kone = require('kone/bluebird')
 *    const app = new Kone()
 *
 * @api public
 */
class BluebirdApplication extends Application {
  constructor (options) {
    super({ Promise: Bluebird, ...options })
  }
}

module.exports = BluebirdApplication
module.exports.default = module.exports.Kone = BluebirdApplication
