'use strict'

const { KINDS, check } = require('./typed-routes')
const { spread } = require('../../lib/run/stats')
const { table } = require('../../lib/report/text')
const ts = require('typescript')

/*
 * What a router's types cost the compiler: a file of 200 routes, beside one of a single route.
 *
 *    make bench-types
 *
 * Instantiations are counted, and are the same in every run. The time is that of the checker alone, for this
 * file and the declarations that it needs: the median of seven fresh programs, in turns.
 */

const ROUTES = [1, 200]
const RUNS = 7

const cells = KINDS.flatMap(kind => ROUTES.map(n => ({ kind, n, runs: [] })))
check(KINDS[0], 1) // the compiler itself, warmed up
for (let run = 0; run < RUNS; run++) {
  for (const cell of cells) cell.runs.push(check(cell.kind, cell.n))
}

const rows = cells.map(({ kind, n, runs }) => {
  const { median, min, max } = spread(runs.map(({ ms }) => ms))
  const [{ instantiations, types }] = runs
  return [kind, ...[n, instantiations, types].map(String), ...[median, min, max].map(ms => ms.toFixed(0))]
})
console.log(`TypeScript ${ts.version}, node ${process.version}\n`)
console.log(table([['router', 'routes', 'instantiations', 'types', 'ms', 'min', 'max'], ...rows]))
