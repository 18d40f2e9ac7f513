'use strict'

const { AsyncResource } = require('async_hooks')
const { throwLater } = require('../shared/timers')

/**
 * Bind a function that an engine calls once, when a response was sent or lost, to an async context: responses that are
 * flushed together are reported in the context of one of them. What the function throws becomes an uncaught exception
 * in its context, where isolate finds the request. AsyncResource.bind() costs several times as much.
 *
 *    outgoing.onFinished(inContext(fn))
 *
 * @param {Function} fn `(err|null) => void`
 * @param {AsyncResource} [resource] of another context than the current one; it is destroyed when `fn` has returned
 * @return {Function}
 */
module.exports = function inContext (fn, resource = new AsyncResource('KONEFINISHED')) {
  return err => {
    resource.runInAsyncScope(call, null, fn, err)
    resource.emitDestroy()
  }
}

function call (fn, err) {
  try {
    fn(err)
  } catch (thrown) {
    throwLater(thrown)
  }
}
