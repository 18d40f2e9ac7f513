'use strict'

const { AsyncLocalStorage } = require('async_hooks')
const cut = require('../../lib/shared/cut')
const { report, toError } = require('../../lib/shared/error-path')
const { Options } = require('../../lib/shared/options')
const { isResponse, isWebStream } = require('../../lib/shared/web')
const { needsNode } = require('../_shared/runtime')

const OPTIONS = new Options('isolate', {})
const storage = new AsyncLocalStorage()
let isWatching = false

/**
 * Respond 500 for an error that is thrown outside of a request's promises (in a timer, `nextTick`, an
 * emitter's listener) or in a promise that nobody awaits. Other requests go on. An error that belongs
 * to no request still ends the process.
 *
 *    app.use(isolate()) // first of all
 *
 * The code that threw may have left objects half-changed. Use `isolate` where losing the process costs
 * more than that, and end the process soon after an unknown error.
 *
 * @return {Function} middleware
 * @throws {TypeError} for any option; on Bun and Deno
 * @api public
 */
module.exports = function isolate (options) {
  OPTIONS.check(options)
  needsNode('isolate', 'Bun and Deno do not report which request an uncaught error belongs to')
  watch()

  return function isolate (ctx, next) {
    return new Promise((resolve, reject) => {
      const request = new Request(ctx, reject)
      guard(ctx.request.incoming || ctx.req, request)
      guard(ctx.response.outgoing || ctx.res, request)
      storage.run(request, next).then(
        value => {
          request.isSettled = true
          resolve(value)
        },
        err => request.fail(err)
      )
    })
  }
}

class Request {
  isSettled = false
  isFailed = false

  constructor (ctx, reject) {
    this.ctx = ctx
    this.reject = reject
  }

  /**
   * Respond with the error, or report it to the app if the response was sent.
   */
  fail (thrown) {
    const err = thrown ?? toError(thrown) // for a thrown null Koa sends no response
    if (!this.isFailed && !this.isSettled) {
      this.isFailed = true
      this.reject(err)
    } else {
      // outside of the request: an error that a listener of 'error' throws must not come back here
      storage.run(undefined, failLate, this.ctx, err)
    }
  }
}

/**
 * A body that is still being sent may be fed by the code that threw, and then never end. Does not rely on the stream's
 * 'error', because a generator that waits and a web stream emit none.
 */
function failLate (ctx, err) {
  const { body } = ctx
  if (ctx.respond === false || !ctx.writable || !streams(body)) return report(ctx, err)
  ctx.onerror(toError(err))
  if (ctx.writable) cut(ctx.res, err) // it had begun
  if (typeof body.destroy === 'function') body.destroy()
}

function streams (body) {
  return typeof body?.pipe === 'function' || isWebStream(body) || isResponse(body)
}

/**
 * node emits the events of its own request and response outside the request's context. On kone's
 * front they do not exist until `ctx.req` or `ctx.res` is read.
 */
function guard (message, request) {
  if (typeof message.emit === 'function') guardEmit(message, request)
  else if (typeof message.materialize === 'function') guardLate(message, request)
}

function guardEmit (message, request) {
  const { emit } = message
  message.emit = function (...args) {
    try {
      return storage.run(request, () => emit.apply(this, args))
    } catch (thrown) {
      request.fail(thrown)
      return true
    }
  }
}

function guardLate (message, request) {
  const { materialize } = message
  let isGuarded = false
  message.materialize = function () {
    const materialized = materialize.call(this)
    if (!isGuarded) {
      isGuarded = true
      guardEmit(materialized, request)
    }
    return materialized
  }
}

/**
 * One handler for the process. For an error of a request, it keeps node from ending the process, and
 * listeners of 'uncaughtException', most of which would end it, from being called. Other errors are
 * not touched.
 */
function watch () {
  if (isWatching) return
  isWatching = true

  process.on('uncaughtExceptionMonitor', () => {
    const request = storage.getStore()
    if (request === undefined || process.hasUncaughtExceptionCaptureCallback()) return
    try {
      process.setUncaughtExceptionCaptureCallback(thrown => {
        process.setUncaughtExceptionCaptureCallback(null)
        request.fail(thrown)
      })
    } catch {
      // throws when the old domain module is loaded, which sets the callback itself
      process.prependOnceListener('uncaughtException', thrown => request.fail(thrown))
    }
  })
}
