'use strict'

const { report } = require('../../lib/shared/error-path')
const whenFinished = require('../_shared/finished')
const sockets = require('../_shared/sockets')
const stateless = require('../_shared/stateless')
const { liner } = require('./line')
const OPTIONS = require('./options')
const { levelName, writer } = require('./writer')

/**
 * Log one line per request, when its response is sent or the client has disconnected.
 *
 *    app.use(logger())                                  // stdout
 *    app.use(logger(log4js.getLogger('http'), { level: 'auto' }))
 *    app.use(logger(pino(), { format: ':method :url :status :response-time' }))
 *    app.use(logger(line => lines.push(line)))
 *
 * Values that a client sends are escaped (quotes, backslashes, control characters), and are never
 * expanded as a token.
 *
 * @param {object|Function} [log] a log4js, pino or similar logger; or a function `(line, args)`,
 *   also as `{ transporter }`; default: stdout
 * @param {object|string|Function} [options] see options.js; or the format alone
 * @return {Function} middleware
 * @throws {TypeError} for an invalid logger or option
 * @api public
 */
module.exports = function logger (log, options) {
  const record = recorder(log, options)

  return function logger (ctx, next) {
    record.follow(ctx, record.timed ? Date.now() : 0)
    return next()
  }
}

/**
 * The same for `app.final`. A final runs after the handlers, so there is no response time. No final
 * runs for a failed or aborted request: the logger logs those from the app's first response on.
 *
 *    app.final(logger.final(log4js.getLogger('http'), { level: 'auto' }))
 *
 * @param {object|Function} [log]
 * @param {object|string|Function} [options]
 * @return {Function} (ctx) => void
 * @api public
 */
module.exports.final = function final (log, options) {
  const record = recorder(log, options)
  const apps = new WeakSet()

  return function logger (ctx) {
    const { app } = ctx
    if (!apps.has(app)) {
      apps.add(app)
      app.on('finish', ctx => record.follow(ctx, 0))
    }
    record.follow(ctx, 0)
  }
}

function recorder (log, options) {
  if (isOptions(log)) {
    options = OPTIONS.alone.check(log)
    log = options.transporter
  } else {
    if (typeof options === 'string' || typeof options === 'function') options = { format: options }
    options = OPTIONS.check(options)
  }
  const { format, level, nolog, tokens } = options
  const { line, timed } = liner(format, tokens, typeof log === 'function')
  const quiet = patterns(nolog)
  const hasAddress = typeof format !== 'string' || format.includes(':remote-addr') || tokens.length > 0
  const write = writer(log, levelName(level), line)

  return {
    timed,
    follow (ctx, start) {
      const { request } = ctx
      if (request._logging || (quiet.length > 0 && quiet.some(one => one.test(ctx.originalUrl)))) return
      request._logging = true // as in koa-log4: without it the logger of a mounted app would add a second line

      // a closed socket has no address any more: ctx.ip keeps it
      if (hasAddress) ctx.ip // eslint-disable-line no-unused-expressions
      whenFinished(ctx, () => {
        const socket = sockets.of(ctx)
        if (socket === undefined) writeSafely(ctx, write, start)
        else socket.closed.then(() => writeSafely(ctx, write, start))
      })
    }
  }
}

/** The response was sent, and nothing else would catch an error or wait for a promise. */
function writeSafely (ctx, write, start) {
  try {
    const written = write(ctx, start)
    if (typeof written?.then === 'function') written.then(undefined, err => report(ctx, err))
  } catch (err) {
    report(ctx, err)
  }
}

function isOptions (log) {
  return log !== null && typeof log === 'object' &&
    typeof log.info !== 'function' && typeof log.log !== 'function'
}

function patterns (nolog) {
  return [].concat(nolog ?? []).map(one => typeof one === 'string' ? new RegExp(one) : stateless(one))
}
