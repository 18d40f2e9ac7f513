'use strict'

// Made by `make index` from the folders beside it.

/**
 * The whole set. A middleware is loaded when it is first read, so an app pays at start only for what
 * it uses.
 *
 *    const { logger, session } = require('kone/middleware')
 */
const set = {
  get bodyParser () { return require('./bodyParser') },
  get compress () { return require('./compress') },
  get conditionalGet () { return require('./conditionalGet') },
  get cors () { return require('./cors') },
  get csrf () { return require('./csrf') },
  get etag () { return require('./etag') },
  get favicon () { return require('./favicon') },
  get health () { return require('./health') },
  get helmet () { return require('./helmet') },
  get i18n () { return require('./i18n') },
  get isolate () { return require('./isolate') },
  get jsonp () { return require('./jsonp') },
  get logger () { return require('./logger') },
  get metrics () { return require('./metrics') },
  get openapi () { return require('./openapi') },
  get overload () { return require('./overload') },
  get rateLimit () { return require('./rateLimit') },
  get requestId () { return require('./requestId') },
  get router () { return require('./router') },
  get rpc () { return require('./rpc') },
  get session () { return require('./session') },
  get sse () { return require('./sse') },
  get static () { return require('./static') },
  get template () { return require('./template') },
  get timeout () { return require('./timeout') },
  get upload () { return require('./upload') },
  get validate () { return require('./validate') },
  get views () { return require('./views') },
  get websocket () { return require('./websocket') }
}

module.exports = set

// the names, for `import { session } from 'kone/middleware'`
0 && (
  exports.bodyParser =
  exports.compress =
  exports.conditionalGet =
  exports.cors =
  exports.csrf =
  exports.etag =
  exports.favicon =
  exports.health =
  exports.helmet =
  exports.i18n =
  exports.isolate =
  exports.jsonp =
  exports.logger =
  exports.metrics =
  exports.openapi =
  exports.overload =
  exports.rateLimit =
  exports.requestId =
  exports.router =
  exports.rpc =
  exports.session =
  exports.sse =
  exports.static =
  exports.template =
  exports.timeout =
  exports.upload =
  exports.validate =
  exports.views =
  exports.websocket =
  null
)
