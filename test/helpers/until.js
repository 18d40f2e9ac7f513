'use strict'

const { setTimeout: sleep } = require('node:timers/promises') // the real one, also while a test moves the clock

/**
 * Wait for what no event tells of. A bare loop would hang the whole run when it never becomes true; this fails.
 *
 *    await until(() => stream.destroyed)
 */
module.exports = async function until (isTrue, ms = 20000) {
  const last = performance.now() + ms
  for (;;) {
    const value = await isTrue()
    if (value) return value
    if (performance.now() > last) throw new Error(`${ms} ms, and still not: ${isTrue}`)
    await sleep(2)
  }
}
