'use strict'

const process = require('node:process')

/**
 * Collect uncaught exceptions until the test is over, as a process does that has a listener for 'uncaughtException'. The
 * capture callback is called before that listener, which would be the test runner's.
 *
 *    const uncaught = catchUncaught(t)
 *    setImmediate(() => { throw new Error('boom') })
 *    await until(() => uncaught.length > 0)
 */
module.exports = function catchUncaught (t) {
  const errors = []
  process.setUncaughtExceptionCaptureCallback(err => errors.push(err))
  t.after(() => process.setUncaughtExceptionCaptureCallback(null))
  return errors
}
