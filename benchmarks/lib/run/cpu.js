'use strict'

const fs = require('node:fs')

/**
 * What the scheduler has given a process and its children so far: the sum over their threads of
 * `/proc/PID/task/<thread>/schedstat` (time on a core, time waiting for one).
 *
 * @param {number} pid
 * @return {{ run: number, wait: number }|null} ns; null elsewhere than Linux
 */
exports.usage = function (pid) {
  let run = 0
  let wait = 0
  for (const member of family(pid)) {
    for (const thread of threads(member)) {
      try {
        const fields = fs.readFileSync(`/proc/${member}/task/${thread}/schedstat`, 'latin1').split(' ')
        run += Number(fields[0])
        wait += Number(fields[1])
      } catch {} // the thread ended meanwhile
    }
  }
  return run ? { run, wait } : null
}

/**
 * A process, its children, and theirs.
 *
 * @param {number|string} pid
 * @return {string[]} pids; none elsewhere than Linux
 */
const family = exports.family = function (pid) {
  const found = [String(pid)]
  for (const member of found) {
    for (const thread of threads(member)) {
      try {
        const children = fs.readFileSync(`/proc/${member}/task/${thread}/children`, 'latin1')
        found.push(...children.split(' ').filter(Boolean))
      } catch {}
    }
  }
  return found
}

function threads (pid) {
  try {
    return fs.readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/**
 * Time that the hypervisor gave to others, and all time, of all cores.
 *
 * @return {{ steal: number, total: number }} ticks; zeros elsewhere than Linux
 */
exports.stolen = function () {
  try {
    const ticks = fs.readFileSync('/proc/stat', 'latin1').split('\n', 1)[0].trim().split(/\s+/).slice(1).map(Number)
    return { steal: ticks[7] || 0, total: ticks.slice(0, 8).reduce((sum, n) => sum + n, 0) }
  } catch {
    return { steal: 0, total: 0 }
  }
}

/**
 * Resident memory of a process and its children; pages that they share are counted for each.
 *
 * @param {number} pid
 * @return {number|null} bytes; null elsewhere than Linux
 */
exports.resident = function (pid) {
  let kb = 0
  for (const member of family(pid)) {
    try {
      kb += Number(/^VmRSS:\s*(\d+) kB/m.exec(fs.readFileSync(`/proc/${member}/status`, 'latin1'))[1])
    } catch {}
  }
  return kb ? kb * 1024 : null
}
