'use strict'

const overloadState = require('../_shared/overload-state')
const { given, misuse } = require('../_shared/usage-error')
const Examination = require('./examination')
const OPTIONS = require('./options')
const Readiness = require('./readiness')

// app.use() of kone calls this method with the app (lib/application.js)
const USED = Symbol.for('kone.used')

/**
 * Respond to the probes of a load balancer or an orchestrator. Liveness: the process responds.
 * Readiness: it accepts new connections, and all checks of its dependencies pass.
 *
 *    app.use(health({ checks: { redis: () => redis.ping() }, afterShutdown: () => redis.quit() }))
 *
 * A draining server accepts no new connections: only a balancer's open connections can read that it is
 * not ready.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware, with the method `shutdown(close)`
 * @throws {TypeError} for an unknown option or a wrong value
 * @api public
 */
module.exports = function health (options) {
  const { live, ready, checks = {}, timeout, details, beforeShutdown, afterShutdown } = OPTIONS.check(options)
  const examination = new Examination(checks, timeout)
  const readiness = new Readiness(beforeShutdown, afterShutdown)

  function health (ctx, next) {
    const { path } = ctx
    readiness.see(ctx)
    if (path !== live && path !== ready) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()

    ctx.set('Cache-Control', 'no-store')
    if (path === live) {
      ctx.body = 'up'
      return
    }
    return probe(ctx)
  }

  async function probe (ctx) {
    const results = readiness.isDraining(ctx) ? [] : await examination.run(ctx)
    const draining = readiness.isDraining(ctx) // it may have begun during the checks
    const isUp = !draining && results.every(({ error }) => error === undefined)
    ctx.status = isUp ? 200 : 503
    ctx.body = isUp ? 'up' : 'down'
    if (details === false) return
    ctx.vary('Accept')
    if (ctx.accepts('text', 'json') !== 'json' || !(details === true || await details(ctx))) return
    ctx.body = {
      status: isUp ? 'up' : 'down',
      draining,
      checks: Object.fromEntries(results.map(({ name, ms, error }) => {
        return [name, { status: error === undefined ? 'up' : 'down', ms, error: error?.message }]
      })),
      overload: overloadState.state() ?? undefined
    }
  }

  health[USED] = function (app) {
    if (beforeShutdown !== undefined) app.onClose(() => readiness.begin(), { before: true })
    if (afterShutdown !== undefined) app.onClose(() => readiness.end())
  }

  /**
   * In Koa, which has no `app.onClose()`: from now on not ready; then call `beforeShutdown`, `close` and
   * `afterShutdown`, each also when an earlier one fails.
   *
   * @param {Function} close `() => Promise`, stops the servers
   * @return {Promise<void>} rejects with the first failure
   */
  health.shutdown = function (close) {
    if (typeof close !== 'function') throw misuse('health.shutdown', `close must be a function, not ${given(close)}`)
    return readiness.shutdown(close)
  }

  return health
}
