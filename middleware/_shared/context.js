'use strict'

/**
 * Define properties on the app's context, not on each ctx: a request pays for them only when it reads them.
 *
 *    if (!(kSignal in ctx)) onContext(ctx, { signal: { get () { … } } })
 *
 * @param {object} ctx
 * @param {object} descriptors by name
 * @api private
 */
exports.onContext = (ctx, descriptors) => {
  const context = ctx.app?.context
  const isShared = context !== undefined && Object.prototype.isPrototypeOf.call(context, ctx)
  Object.defineProperties(isShared ? context : ctx, descriptors)
}

/**
 * What assigning does to a plain property, where an accessor has this name: from now on the value is data.
 *
 * @param {object} object
 * @param {PropertyKey} name
 * @param {*} value
 * @api private
 */
exports.defineValue = (object, name, value) => {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** Of ctx: the JSON text that validate() made of the body. For other middleware it is JSON, and not a string. */
exports.SERIALIZED = Symbol('serialized')

/** Of a getter of ctx.state: it gives text, and has an effect, so that templates read it only where they print it. */
exports.WHEN_PRINTED = Symbol('when printed')

/** Of ctx, where session is used: whether ctx.session differs from what was saved, for websocket. */
exports.UNSAVED = Symbol('unsaved session')
