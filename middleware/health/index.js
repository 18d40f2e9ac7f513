'use strict'

const { Rule, check, fn, number, off, record } = require('../_shared/options')
const report = require('../_shared/report')

const path = new Rule("a path that begins with '/'", value => typeof value === 'string' && value[0] === '/').or(off)
const OPTIONS = { live: path, ready: path, checks: record(fn), timeout: number({ min: 1, max: 2 ** 31 - 1, of: 'milliseconds' }) }

// set while app.close() drains a server (lib/drain.js)
const kDraining = Symbol.for('kone.draining')

/**
 * Respond to the probes of a load balancer or an orchestrator. Liveness: the process responds.
 * Readiness: it accepts new connections, and all checks of its dependencies pass.
 *
 *    app.use(health({ checks: { redis: () => redis.ping() } }))
 *
 * A draining server accepts no new connections: only a balancer's open connections can read that it is
 * not ready.
 *
 * @param {object} [options]
 * @param {string | false} [options.live='/healthz'] path of liveness
 * @param {string | false} [options.ready='/readyz'] path of readiness
 * @param {{[name: string]: Function}} [options.checks] by name, `(ctx) => *`: not ready while one
 *   throws, rejects, returns false or takes longer than `timeout`
 * @param {number} [options.timeout=1000] ms
 * @return {Function} middleware
 * @throws {TypeError} for an unknown option or a wrong value
 * @api public
 */
module.exports = function health (options) {
  const { live = '/healthz', ready = '/readyz', checks = {}, timeout = 1000 } = check('health', options, OPTIONS)
  const failing = new Set()
  let listened = null // a server that was seen listening

  return function health (ctx, next) {
    const { path } = ctx
    if (listened === null) listened = listening(ctx)
    if (path !== live && path !== ready) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()

    ctx.set('Cache-Control', 'no-store')
    if (path === live) {
      ctx.body = 'alive'
      return
    }
    if (isDraining(ctx)) return respond(ctx, 'draining')
    return examine(ctx).then(missing => {
      if (isDraining(ctx)) respond(ctx, 'draining') // the server began to drain during the checks
      else respond(ctx, missing.length === 0 ? null : `no ${missing.join(', ')}`)
    })
  }

  async function examine (ctx) {
    const names = Object.keys(checks)
    const passed = await Promise.all(names.map(name => passes(ctx, name)))
    return names.filter((name, i) => !passed[i])
  }

  // A failing check is reported once, not at every probe: probes come every few seconds.
  async function passes (ctx, name) {
    try {
      if (await within(timeout, name, checks[name](ctx)) === false) throw new Error(`health: ${name} is not there`)
      failing.delete(name)
      return true
    } catch (err) {
      if (!failing.has(name)) report(ctx, err instanceof Error ? err : new Error(`health: ${name}: ${err}`))
      failing.add(name)
      return false
    }
  }

  // A server that never listened counts as ready: it belongs to a test that emits connections.
  function isDraining (ctx) {
    const { server } = ctx.socket || {}
    if (!server) return false
    return server[kDraining] !== undefined || (server.listening === false && server === listened)
  }
}

function listening (ctx) {
  const { server } = ctx.socket || {}
  return server && server.listening ? server : null
}

function respond (ctx, reason) {
  ctx.status = reason === null ? 200 : 503
  ctx.body = reason === null ? 'ready' : reason
}

function within (ms, name, value) {
  if (typeof value?.then !== 'function') return value
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`health: ${name} did not respond within ${ms} ms`)), ms)
    Promise.resolve(value).then(resolve, reject).then(() => clearTimeout(timer))
  })
}
