'use strict'

/**
 * Whether all that comes after a middleware has ended already. On kone a chain that never waits
 * returns one promise that all requests share, so that a middleware that acts afterwards may act
 * at once and keep the chain synchronous; in Koa this is always false.
 *
 *    const ended = next()
 *    return isOver(ctx, ended) ? act(ctx) : ended.then(() => act(ctx))
 *
 * @param {object} ctx
 * @param {Promise} ended what `next()` returned
 * @return {boolean}
 * @api private
 */
module.exports = function isOver (ctx, ended) {
  return ended !== undefined && ended === ctx.app.constructor.compose?.ENDED
}
