'use strict'

const { now } = require('../../lib/shared/timers')
const deadline = require('../_shared/deadline')
const { report } = require('../../lib/shared/error-path')

/**
 * Runs the checks of health. A probe that comes while they run gets the same results, so that many probes do not become
 * many queries; and a run ends at its deadline, so that the next one asks anew.
 */
module.exports = class Examination {
  constructor (checks, timeout) {
    this.checks = Object.entries(checks)
    this.timeout = timeout
    this.running = undefined
    this.failing = new Set()
  }

  /** @return {Promise<Array<{ name: string, ms: number, error?: Error }>>} */
  run (ctx) {
    this.running ??= Promise.all(this.checks.map(([name, check]) => this.examine(ctx, name, check)))
      .finally(() => { this.running = undefined })
    return this.running
  }

  // A failing check is reported once, not at every probe: probes come every few seconds.
  async examine (ctx, name, check) {
    const start = now()
    const error = await this.errorOf(ctx, name, check)
    if (error === undefined) this.failing.delete(name)
    else if (!this.failing.has(name)) report(ctx, error)
    if (error !== undefined) this.failing.add(name)
    return { name, ms: Math.round(now() - start), error }
  }

  async errorOf (ctx, name, check) {
    try {
      const late = () => new Error(`health: ${name} did not respond within ${this.timeout} ms`)
      const passed = await deadline(Promise.resolve(check(ctx)), this.timeout, late)
      return passed === false ? new Error(`health: ${name} is not there`) : undefined
    } catch (err) {
      return err instanceof Error ? err : new Error(`health: ${name}: ${err}`)
    }
  }
}
