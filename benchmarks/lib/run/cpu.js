'use strict'

const fs = require('node:fs')

/**
 * What the scheduler has given a process and its children so far: the sum over their threads of
 * `/proc/PID/task/<thread>/schedstat` (time on a core, time waiting for one).
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

/** A process, its children, and theirs. */
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

/** µs of one tick, the unit of /proc/stat: a hundredth of a second on every Linux that Node runs on. */
exports.TICK = 10_000

/** CPU time of a process, its children, and those of them that have ended. */
exports.ticks = function (pid) {
  let sum = 0
  for (const member of family(pid)) {
    try {
      const stat = fs.readFileSync(`/proc/${member}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      for (const at of [11, 12, 13, 14]) sum += Number(fields[at]) // utime, stime, cutime, cstime
    } catch {} // it ended meanwhile
  }
  return sum
}

/** Time of all cores: all of it, what was used, and what the hypervisor gave to other machines. */
exports.machine = function () {
  try {
    const line = fs.readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]
    const [user, nice, system, idle, iowait, irq, softirq, steal = 0] = line.trim().split(/\s+/).slice(1).map(Number)
    const busy = user + nice + system + irq + softirq
    return { total: busy + idle + iowait + steal, busy, steal }
  } catch {
    return { total: 0, busy: 0, steal: 0 }
  }
}

/** Resident memory of a process and its children; pages that they share are counted for each. */
exports.resident = function (pid) {
  let kb = 0
  for (const member of family(pid)) {
    try {
      kb += Number(/^VmRSS:\s*(\d+) kB/m.exec(fs.readFileSync(`/proc/${member}/status`, 'latin1'))[1])
    } catch {}
  }
  return kb ? kb * 1024 : null
}
