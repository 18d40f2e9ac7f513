'use strict'

const os = require('node:os')
const cpu = require('./cpu')
const { median, shuffle } = require('./stats')

const TRIES = 3 // a round that cannot be believed is measured again, twice at most
const AGAIN = 2 // rounds of a part that are measured again because the machine was disturbed

const never = () => null

/**
 * The rounds of every lab. A cell is one contender in one workload. Every round visits all cells, workload by
 * workload, so that those that are compared are measured within seconds; the order changes from round to round, so
 * that a disturbance of the machine hits no contender alone.
 *
 *    const recorded = await rounds(cells, { count: 6, visit: cell => measure(cell), doubt: (cell, sample) => null })
 *    // [{ round: 1, load: 1.9, steal: 0.001, others: 0.02, wait: 0.03 }, …]
 *
 * A cell gets `samples`, or `rejected` with a reason, and `discarded` with what was measured again. `doubt` says why a
 * sample cannot be believed; `disturbance`, why a whole round cannot, by its conditions and never by its figures;
 * `isEnough`, whether the rounds so far will do. A visit may give an array of samples, where it is several rounds.
 */
exports.rounds = async function (cells, options) {
  const { count, visit, doubt = never, disturbance = never, isEnough = never, tries = TRIES, tick = never } = options
  for (const cell of cells) Object.assign(cell, { samples: [], discarded: [], rejected: null })
  const recorded = []
  for (let round = 1, again = 0; round <= count && !isEnough(cells); round++) {
    const before = cpu.machine()
    const had = cells.map(({ samples }) => samples.length)
    for (const cell of order(cells, round)) {
      tick(`round ${round}${count < Infinity ? ` of ${count}` : ''}: ${cell.workload}, ${cell.server.name}`)
      if (!cell.rejected) await sampled(cell, round, { visit, doubt, tries })
    }
    const found = conditions(before, cpu.machine(), cells.flatMap(({ samples }, i) => samples.slice(had[i])))
    const reason = again < AGAIN ? disturbance(found) : null
    if (!reason) recorded.push({ round, ...found })
    else {
      for (const [i, { samples, discarded }] of cells.entries()) {
        if (samples.splice(had[i]).length > 0) discarded.push({ round, reason })
      }
      again++
      round--
    }
  }
  return recorded
}

/**
 * The samples of several rounds of the same act, one after the other.
 *
 *    await repeat(3, () => crowd.closed({ seconds: 2 })) // three samples
 */
exports.repeat = async function (count, act) {
  const samples = []
  while (samples.length < count) samples.push(await act())
  return samples
}

// Another workload is first in each round, and in each workload another contender; the rest of a workload is shuffled.
function order (cells, round) {
  const workloads = [...new Set(cells.map(({ workload }) => workload))]
  return rotated(workloads, round).flatMap(workload => {
    const [first, ...rest] = rotated(cells.filter(cell => cell.workload === workload), round)
    return [first, ...shuffle(rest)]
  })
}

function rotated (list, by) {
  const at = by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

async function sampled (cell, round, { visit, doubt, tries }) {
  for (let i = 1; i <= tries; i++) {
    let reason
    try {
      const samples = [await visit(cell, round)].flat()
      reason = samples.map(sample => doubt(cell, sample)).find(Boolean)
      if (!reason) return cell.samples.push(...samples)
    } catch (err) { // the server ended, for example
      reason = err.message
    }
    cell.discarded.push({ round, reason })
    if (i === tries) cell.rejected = reason
  }
}

// What else happened on the machine between two looks, and how long servers waited for their core: the median.
function conditions (before, after, samples) {
  const used = name => after[name] - before[name]
  const rounded = share => Math.round(share * 1e4) / 1e4
  const share = ticks => used('total') > 0 ? Math.max(0, rounded(ticks / used('total'))) : 0
  const waits = samples.map(({ wait }) => wait).filter(Number.isFinite)
  return {
    load: Math.round(os.loadavg()[0] * 100) / 100,
    steal: share(used('steal')),
    others: share(used('busy') - used('ours')),
    ...waits.length > 0 && { wait: rounded(median(waits)) }
  }
}
