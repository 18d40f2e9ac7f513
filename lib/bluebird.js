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
class BluebirdApplication extends /** @type {any} */ (Application) {
  constructor (options) {
    super({ Promise: Bluebird, ...options, __proto__: options }) // also what they inherit
  }
}

module.exports = BluebirdApplication
module.exports.default = module.exports.Kone = BluebirdApplication
// Own names, because `import` finds them in the text of a module.
module.exports.compose = Application.compose
module.exports.HttpError = Application.HttpError
module.exports.createHttpError = Application.createHttpError
module.exports.isHttpError = Application.isHttpError
