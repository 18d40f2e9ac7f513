import type { Context, Middleware } from '../../lib/index'

/**
 * Respond to the probes of a balancer or an orchestrator.
 *
 *    app.use(health({ checks: { redis: () => redis.ping() } }))
 */
declare function health (options?: health.Options): Middleware

declare namespace health {
  interface Options {
    /** path of liveness; default '/healthz' */
    live?: string | false
    /** path of readiness; default '/readyz' */
    ready?: string | false
    /** by name: not ready while one throws, rejects, returns false or takes longer than `timeout` */
    checks?: Record<string, (ctx: Context) => unknown>
    /** ms; default 1000 */
    timeout?: number
  }
}

export = health
