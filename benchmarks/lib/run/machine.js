'use strict'

const fs = require('node:fs')
const os = require('node:os')
const { spawnSync } = require('node:child_process')

/** The machine a figure belongs to. */
exports.machine = () => ({
  cpu: os.cpus()[0]?.model.trim() || os.arch(),
  cores: os.availableParallelism(),
  kernel: `${os.type()} ${os.release()}`
})

/**
 * One core for the servers and the others for the load, or half of them, so that neither is moved about nor steals from
 * the other. Null where processes cannot be pinned (one core, no taskset).
 */
exports.pins = function ({ half = false } = {}) {
  const cores = allowed()
  if (cores.length < 2 || !exports.program('taskset')) return null
  const first = half ? Math.floor(cores.length / 2) : 1
  return { server: cores.slice(0, first).join(','), load: cores.slice(first).join(',') }
}

/** Whether a program can be started here. */
exports.program = name => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined

function allowed () {
  if (process.platform !== 'linux') return []
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(fs.readFileSync('/proc/self/status', 'latin1'))[1]
  return list.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
}
