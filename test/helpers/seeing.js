'use strict'

/**
 * The same app: it notes the path of each request in `app.seen`, and prints no error.
 *
 *    const app = seeing(new Kone())
 */
module.exports = function seeing (app) {
  app.on('error', () => {})
  app.seen = []
  app.use((ctx, next) => {
    app.seen.push(ctx.path)
    return next()
  })
  return app
}
