'use strict'

const fs = require('node:fs')

/*
 * What processes and the machine have used so far, read from /proc. Elsewhere than on Linux it is nothing.
 */

/**
 * What the scheduler has given a process and its children: the sum over their threads of
 * `/proc/PID/task/<thread>/schedstat` (ns on a core, ns waiting for one).
 */
exports.usage = function (pid) {
  let run = 0
  let wait = 0
  for (const member of family(pid)) {
    for (const thread of threads(member)) {
      const fields = read(`${member}/task/${thread}/schedstat`).split(' ')
      run += Number(fields[0])
      wait += Number(fields[1] ?? 0)
    }
  }
  return run ? { run, wait } : null
}

/** A process, its children, and theirs. */
const family = exports.family = function (pid) {
  const found = [String(pid)]
  for (const member of found) {
    for (const thread of threads(member)) found.push(...read(`${member}/task/${thread}/children`).split(' ').filter(Boolean))
  }
  return found
}

/** CPU time of a process, its children, and those of them that have ended, in the ticks of /proc/stat. */
const ticks = exports.ticks = function (pid) {
  const TIMES = [11, 12, 13, 14] // utime, stime, cutime, cstime
  const stats = family(pid).map(member => read(`${member}/stat`)).filter(Boolean)
  const fields = stats.map(stat => stat.slice(stat.lastIndexOf(')') + 2).split(' '))
  return fields.reduce((sum, times) => sum + TIMES.reduce((all, at) => all + Number(times[at]), 0), 0)
}

/** Time of all cores: all of it, what was used, what the hypervisor gave to other machines, and what this lab used. */
exports.machine = function () {
  const [user, nice, system, idle, iowait, irq, softirq, steal] =
    Object.assign(Array(8).fill(0), read('stat').split('\n', 1)[0].trim().split(/\s+/).slice(1).map(Number))
  const busy = user + nice + system + irq + softirq
  return { total: busy + idle + iowait + steal, busy, steal, ours: ticks(process.pid) }
}

/** Resident memory of a process and its children; pages that they share are counted for each. */
exports.resident = function (pid) {
  const sizes = family(pid).map(member => Number(/^VmRSS:\s*(\d+) kB/m.exec(read(`${member}/status`))?.[1] ?? 0))
  return sizes.reduce((sum, kb) => sum + kb, 0) * 1024 || null
}

const threads = pid => found(() => fs.readdirSync(`/proc/${pid}/task`), [])
const read = file => found(() => fs.readFileSync(`/proc/${file}`, 'latin1'), '')

// A thread or a process may have ended meanwhile.
function found (look, otherwise) {
  try {
    return look()
  } catch {
    return otherwise
  }
}
