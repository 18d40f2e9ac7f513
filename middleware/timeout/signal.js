'use strict'

const { defineValue, onContext } = require('../_shared/context')

const kSignal = Symbol('timeout signal')

/**
 * The AbortSignal of one request, which is made when something reads it.
 */
class Signal {
  #controller

  get signal () {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  get reason () {
    return this.#controller?.signal.reason
  }

  abort (err) {
    this.#controller ??= new AbortController()
    this.#controller.abort(err)
  }
}

const ACCESSORS = {
  [kSignal]: { value: undefined, writable: true, configurable: true },
  signal: {
    configurable: true,
    get () { return this[kSignal]?.signal },
    set (value) { defineValue(this, 'signal', value) }
  }
}

/**
 * @param {object} ctx
 * @return {Signal} the request's; from now on there is `ctx.signal`
 */
exports.of = ctx => {
  if (!(kSignal in ctx)) onContext(ctx, ACCESSORS)
  ctx[kSignal] ??= new Signal()
  return ctx[kSignal]
}
