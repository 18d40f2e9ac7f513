'use strict'

/**
 * Run the functions of `app.final` after the middleware, `(ctx) => value` in order, without `next`. Synchronous until
 * one of them returns a promise.
 *
 *    const waiting = final([jsonp, timing], ctx)
 *    if (waiting) await waiting
 *
 * @return {Promise|undefined} a promise only if one of `fns` returned one
 * @throws what a function threw
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
