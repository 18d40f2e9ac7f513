import Kone = require('../../lib/index')

/**
 * Respond to the probes of a balancer or an orchestrator.
 *
 *    app.use(health({ checks: { redis: () => redis.ping() } }))
 */
declare function health (options?: health.Options): health.Health

declare namespace health {
  interface Options {
    // <options>
    /** Path of liveness. Default: `'/healthz'`. */
    live?: string | false | undefined
    /** Path of readiness. Default: `'/readyz'`. */
    ready?: string | false | undefined
    /**
     * Functions by name, one for each service that the app needs; the app is not ready while one throws, rejects,
     * returns `false` or takes longer than `timeout`.
     */
    checks?: Record<string, (ctx: Kone.Context) => unknown> | undefined
    /** How long a check may take (ms). Default: 1000. */
    timeout?: number | undefined
    /**
     * `true`, or `ctx => boolean`, which may return a promise: a probe that prefers JSON gets the result of each
     * check. Default: `false`.
     */
    details?: boolean | ((ctx: Kone.Context) => boolean | PromiseLike<boolean>) | undefined
    /**
     * Called when the app is stopped, or by `shutdown()`, while the app is not ready but still accepts requests.
     */
    beforeShutdown?: (() => unknown) | undefined
    /** Called when the last response was sent. */
    afterShutdown?: (() => unknown) | undefined
    // </options>
  }

  interface Health extends Kone.Middleware {
    /** In Koa: from now on not ready; calls `beforeShutdown`, `close` and `afterShutdown`, one after the other. */
    shutdown (close: () => unknown): Promise<void>
  }

  /** What a probe that prefers JSON gets, with `details`. */
  interface Details {
    status: 'up' | 'down'
    draining: boolean
    checks: Record<string, { status: 'up' | 'down', ms: number, error?: string }>
    /** Of overload(), if the process has one. */
    overload?: object
  }
}

export = health
