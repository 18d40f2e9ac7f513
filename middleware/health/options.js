'use strict'

const { Options, boolean, fn, number, off, path, record } = require('../../lib/shared/options')
const { LONGEST } = require('../../lib/shared/timers')

module.exports = new Options('health', {
  live: path.or(off).says('path of liveness', { default: '/healthz' }),
  ready: path.or(off).says('path of readiness', { default: '/readyz' }),
  checks: record(fn).says('functions by name, one for each service that the app needs; the app is not ready while one throws, ' +
    'rejects, returns `false` or takes longer than `timeout`', { type: 'Record<string, (ctx: Kone.Context) => unknown>' }),
  timeout: number({ min: 1, max: LONGEST, unit: 'ms' }).says('how long a check may take', { default: 1000 }),
  details: boolean.or(fn).says('`true`, or `ctx => boolean`, which may return a promise: a probe that prefers JSON gets the result of each check', {
    default: false, type: 'boolean | ((ctx: Kone.Context) => boolean | PromiseLike<boolean>)'
  }),
  beforeShutdown: fn.says('called when the app is stopped, or by `shutdown()`, while the app is not ready but still accepts requests', { type: '() => unknown' }),
  afterShutdown: fn.says('called when the last response was sent', { type: '() => unknown' })
})
