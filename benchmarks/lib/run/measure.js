'use strict'

const cpu = require('./cpu')
const { disbelief, median, shuffle } = require('./stats')

const TRIES = 3 // a round that cannot be believed is measured again, twice at most

/**
 * A cell is one contender under one load; all servers of all cells are up. Every round visits all cells
 * in a new random order, so that a disturbance of the machine hits no contender alone.
 *
 *    const load = { generator: 'wrk', connections: 50, seconds: 2 }
 *    await measure([{ workload: 'hello', server, load }], { rounds: 8, warm: 3, generators: { wrk } })
 *
 * @param {object[]} cells each gets `samples`, one per round, or `rejected`, a reason; and `discarded`, the
 *   reasons of rounds that were measured again
 * @param {{ rounds: number, warm: number, warmed?: object[], generators: object, tick?: (doing: string) => void }} how
 *   warm: seconds of load before the first round, for the cells in `warmed` (all)
 */
exports.measure = async function (cells, { rounds, warm, warmed = cells, generators, tick = () => {} }) {
  for (const cell of cells) Object.assign(cell, { samples: [], discarded: [], rejected: null })

  for (const cell of warmed) {
    tick(`warming ${cell.server.name}`)
    // whoever fails here fails in the rounds, where it is counted
    await generators[cell.load.generator].run({ ...cell.load, port: cell.server.port, seconds: warm }).catch(() => {})
  }
  for (let round = 1; round <= rounds; round++) {
    for (const cell of shuffle([...cells])) {
      tick(`round ${round} of ${rounds}: ${cell.server.name}`)
      if (!cell.rejected) await visit(cell, round, generators[cell.load.generator])
    }
  }
}

/**
 * How many ticks `measure` will give: the length of a progress bar.
 *
 * @param {object[]} cells
 * @param {number} rounds
 * @return {number}
 */
exports.steps = (cells, rounds) => cells.length * (rounds + 1)

/**
 * What a reader must know about a cell before believing small differences.
 *
 * @param {object[]} samples
 * @return {string[]}
 */
exports.remarks = function (samples) {
  const of = name => median(samples.map(sample => sample[name]))
  const remarks = []
  // A closed loop without pauses keeps a server busy; one that neither ran nor waited for its core idled.
  if (of('busy') < 0.9) remarks.push(`the load generator was the limit (server busy ${percent(of('busy'))})`)
  if (of('wait') > 0.5) remarks.push(`the server's core was contended (waited ${percent(of('wait'))} of its run time)`)
  if (of('steal') > 0.05) remarks.push(`the hypervisor took ${percent(of('steal'))}`)
  return remarks
}

async function visit (cell, round, generator) {
  for (let tries = 1; tries <= TRIES; tries++) {
    let reason
    try {
      const sample = await once(cell, generator)
      reason = disbelief({ ...cell.load, ...sample }) ?? (sample.cpu > 0 ? null : 'no CPU time of it was seen')
      if (!reason) return cell.samples.push(sample)
    } catch (err) { // it ended, say
      reason = err.message
    }
    cell.discarded.push({ round, reason })
    if (tries === TRIES) cell.rejected = reason
  }
}

async function once ({ server, load }, generator) {
  const marks = {}
  const mark = what => { marks[what] = server.usage().catch(() => null) }
  const start = await server.usage()
  const stolen = cpu.stolen()
  const sample = await generator.run({ ...load, port: server.port, mark })
  const end = await server.usage()
  const now = cpu.stolen()

  const { requests: all, counted: requests = all } = sample // counted: those between the marks
  const before = await marks.settled ?? start
  const after = await marks.over ?? end
  const run = after.run - before.run
  const wait = after.wait - before.wait
  return {
    ...sample,
    cpu: run / 1000 / requests, // µs
    busy: (run + wait) / 1e9 / (sample.seconds * requests / sample.requests),
    wait: wait / run,
    steal: now.total > stolen.total ? (now.steal - stolen.steal) / (now.total - stolen.total) : 0
  }
}

const percent = share => `${Math.round(share * 100)} %`
