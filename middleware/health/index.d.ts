import type { Context, Middleware } from '../../lib/index'

/**
 * Respond to the probes of a balancer or an orchestrator.
 *
 *    app.use(health({ checks: { redis: () => redis.ping() } }))
 */
declare function health (options?: health.Options): health.Health

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
    /** true, or a function: a probe that prefers JSON gets every check; default false */
    details?: boolean | ((ctx: Context) => boolean | PromiseLike<boolean>)
    /** called first by `shutdown()`, while it is not ready but still accepts requests */
    beforeShutdown?: () => unknown
    /** called last by `shutdown()` */
    afterShutdown?: () => unknown
  }

  interface Health extends Middleware {
    /** From now on not ready; calls `beforeShutdown`, `close` and `afterShutdown`, one after the other. */
    shutdown (close: () => unknown): Promise<void>
  }

  /** What a probe that prefers JSON gets, with `details`. */
  interface Details {
    status: 'up' | 'down'
    draining: boolean
    checks: Record<string, { status: 'up' | 'down', ms: number, error?: string }>
    /** of overload(), if the process has one */
    overload?: object
  }
}

export = health
