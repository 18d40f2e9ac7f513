'use strict'

const os = require('node:os')
const cpu = require('./cpu')

/**
 * What else happened on the machine, from now until the function that this returns is called.
 *
 *    const end = conditions()
 *    await measure()
 *    end() // { load: 1.9, steal: 0.001, others: 0.02 }
 */
module.exports = function conditions () {
  const before = look()
  return function () {
    const after = look()
    const total = after.total - before.total
    const share = ticks => total > 0 ? Math.max(0, Math.round(ticks / total * 1e4) / 1e4) : 0
    return {
      load: Math.round(os.loadavg()[0] * 100) / 100,
      steal: share(after.steal - before.steal),
      others: share(after.busy - before.busy - (after.ours - before.ours))
    }
  }
}

const look = () => ({ ...cpu.machine(), ours: cpu.ticks(process.pid) })
