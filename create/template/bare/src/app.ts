import Kone from 'kone'
import health from 'kone/middleware/health'

/**
 * Make an app: one for server.ts, and one for each test.
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
