'use strict'

/**
 * The flat stage after the onion: functions `(ctx) => value`, in the order of `app.final`,
 * without `next`. It stays synchronous until one of them returns a promise.
 *
 *    const waiting = final([jsonp, timing], ctx)
 *    if (waiting) await waiting
 *
 * @param {Function[]} fns
 * @param {object} ctx
 * @return {Promise|undefined} a promise only if one of `fns` returned one
 * @throws what a function threw
 * @api private
 */
module.exports = function final (fns, ctx) {
  for (let i = 0; i < fns.length; i++) {
    const value = fns[i](ctx)
    if (value && typeof value.then === 'function') return rest(fns, ctx, i, value)
  }
}

async function rest (fns, ctx, i, value) {
  await value
  while (++i < fns.length) await fns[i](ctx)
}
