'use strict'

const os = require('node:os')
const { processesFor } = require('../../lib/run/connections')
const { disbelief } = require('../../../command/measure/stats')

const FEW = [1000, 10_000]
const DEFAULT = [1000, 5000, 10_000, 50_000]
const ALL = [1000, 10_000, 20_000, 50_000, 100_000] // from the report's 10,000 to its 100,000

/**
 * How many connections a run goes through.
 *
 *    levelsOf({ quick: true }) // [1000, 10000]
 */
exports.levelsOf = function ({ quick, all }) {
  if (quick) return all ? [...FEW, ALL.at(-1)] : FEW
  return all ? ALL : DEFAULT
}

/** A contender with as many processes as such a level needs. */
exports.sized = function (contender, connections, descriptors) {
  const { name, extra, program, isCluster, isLargeOnly } = contender
  const needed = processesFor(connections, descriptors)
  if (isLargeOnly && needed === 1) return 'one process of it holds so many, and that is measured'
  if (isCluster) {
    const half = Math.floor(os.availableParallelism() / 2) // of the cores: the load has the others
    return { ...contender, workers: Math.max(needed, Math.min(8, Math.max(2, half))) }
  }
  const isTold = name === 'nginx' || (extra && /\$\{?WORKERS/.test(program.command().at(-1)))
  if (isTold) return { ...contender, given: { workers: needed } }
  return needed === 1 ? contender : `it is one process here, and one may open ${descriptors} files`
}

/** Why a visit cannot be believed. */
exports.doubt = function ({ connections }, { paced, closed, memory, accept, reconnects }) {
  const [reason] = [...paced, ...closed].map(sample => disbelief({ connections, ...sample })).filter(Boolean)
  if (reason) return reason
  if (reconnects > 0) return `${reconnects} connections broke`
  return memory > 0 && accept > 0 ? null : 'its memory did not grow'
}
