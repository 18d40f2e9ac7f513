'use strict'

const NAMES = [
  'router', 'bodyParser', 'session', 'template', 'views', 'logger', 'static', 'cors', 'csrf',
  'helmet', 'i18n', 'jsonp', 'favicon', 'compress', 'etag', 'conditionalGet', 'requestId',
  'rateLimit', 'timeout', 'sse', 'upload', 'rpc', 'isolate'
]

/**
 * The whole set. Each middleware is loaded when it is first asked for, so an app pays at start
 * only for what it uses.
 *
 *    const { logger, session } = require('kone/middleware')
 *
 * @api public
 */
for (const name of NAMES) {
  Object.defineProperty(exports, name, { enumerable: true, get: () => require(`./${name}`) })
}
