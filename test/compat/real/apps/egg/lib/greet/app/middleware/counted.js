'use strict'

module.exports = () => async function counted (ctx, next) {
  await next()
  ctx.set('X-Greeted', String(ctx.app.greeted > 0))
}
