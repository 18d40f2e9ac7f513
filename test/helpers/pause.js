'use strict'

const fs = require('node:fs')
const until = require('./until')

/**
 * Stop a process with SIGSTOP. The signal is on its way when kill() returns: on a busy machine the process may still
 * respond to what is sent next. So this waits until the kernel reports it as stopped, where there is a /proc.
 *
 *    await pause(child)
 *    child.kill('SIGCONT')
 */
module.exports = async function pause (child) {
  child.kill('SIGSTOP')
  const file = `/proc/${child.pid}/stat`
  if (fs.existsSync(file)) await until(() => stateOf(fs.readFileSync(file, 'latin1')) === 'T')
}

/** Behind the name, which is in brackets and may have any character. */
function stateOf (stat) {
  return stat.slice(stat.lastIndexOf(')') + 2)[0]
}
