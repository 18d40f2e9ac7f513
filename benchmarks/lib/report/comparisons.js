'use strict'

const { pairedRatio } = require('../../../command/measure/stats')

/*
 * kone ÷ each other server of the newest result of each lab: what the index of the reports counts, and what README.md
 * says of where kone takes more.
 */

/** The kinds of others: what a kind is called, and who is of it. */
const BESIDE = exports.BESIDE = [
  ['Koa 2', name => name === 'koa'],
  ['`node:http` by hand', name => name === 'node'],
  ['`node:http` in its cheapest form', name => name === 'node-cheapest'],
  ['a raw socket that parses no request', name => name === 'net'],
  ['nginx', name => name === 'nginx'],
  ['any other server of the labs', name => !/^(?:net|nginx|kone.*|(?:koa|node)(?:-(?:bluebird|cheapest|cluster|static))?)$/.test(name)]
]

/** Every row of CPU time, memory or p99 of kone, beside the others' of the same workload. */
exports.comparisons = function (figures) {
  const { result: { lab, rows }, ours } = figures
  // a cluster stands in where one process cannot hold the connections; of versions, the newest
  const [newest] = ours.filter(({ isVersion }) => isVersion).sort((a, b) => b.node - a.node)
  const stands = ({ workload, metric }) => ['kone', 'kone-cluster', newest?.name].find(name => figures.row(workload, name, metric))
  return rows.filter(row => ['cpu', 'memory', 'p99'].includes(row.metric) && row.contender === stands(row)).flatMap(kone => {
    const { suffix, isVersion, node: on } = ours.find(({ name }) => name === kone.contender)
    return rows.filter(one => one.workload === kone.workload && one.metric === kone.metric && one !== kone)
      .filter(({ contender }) => !isVersion || contender.endsWith(suffix))
      .map(({ contender, rounds }) => ({
        what: `${lab}: ${kone.workload}${kone.metric === 'cpu' ? '' : `, ${kone.metric}`}`,
        other: suffix && contender.endsWith(suffix) ? contender.slice(0, -suffix.length) : contender,
        on,
        ...pairedRatio(kone.rounds, rounds)
      }))
  })
}

const byRatio = exports.byRatio = (a, b) => a.median - b.median

/** Of comparisons with a kind of others: all, and those in which kone does not take less by the median, the worst first. */
exports.among = function (compared, kind) {
  const [, is] = BESIDE.find(([what]) => what === kind)
  const all = compared.filter(({ other }) => is(other))
  return { all, lost: all.filter(({ median }) => median >= 1).sort(byRatio).reverse() }
}
