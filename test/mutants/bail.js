'use strict'

/**
 * A reporter for Stryker, in TAP: the first test that fails ends the process, because one is enough to kill a mutant.
 * (Stryker itself stops at the first failure of the outermost level, when the whole `describe` has run. The tests behind
 * the first failure may each wait in vain for seconds.)
 */
module.exports = async function * bail (events) {
  for await (const { type, data: { name, details } } of events) {
    if (type !== 'test:complete' || details.passed) continue
    yield `TAP version 13\nnot ok 1 - ${name}\n1..1\n`
    setImmediate(() => process.exit(1)) // when that is written
    await new Promise(() => {})
  }
  yield 'TAP version 13\nok 1 - every test\n1..1\n'
}
