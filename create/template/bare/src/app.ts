import Kone from 'kone'
import health from 'kone/middleware/health'

/**
 * The app, made by a function: server.ts and every test get one of their own.
 */
export function createApp (): Kone {
  const app = new Kone()

  app.use(health()) // /healthz and /readyz
  app.use(ctx => {
    if (ctx.path !== '/') return
    ctx.body = { hello: ctx.query.name || 'world' }
  })

  return app
}
