'use strict'

module.exports = () => async function marked (ctx, next) {
  await next()
  ctx.set('X-Marked', ctx.path)
}
