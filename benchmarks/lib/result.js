'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { median, middle, quantile, round } = require('./stats')

const FOLDER = path.join(__dirname, '../results')

/**
 * One measured quantity of one contender. Figures are rounded first, so that median and spread are
 * exactly those of the rounds in the file.
 *
 *    row({ workload: 'hello', contender: 'kone', metric: 'cpu', unit: 'µs/request' }, [9.9, 10.1, 10])
 *
 * @param {{ workload: string, contender: string, metric: string, unit: string }} what
 * @param {number[]} figures one per round
 * @param {object} [conditions] generator, requestsPerSecond, connections, latencyMeanMs, pipeline, errors
 * @return {object}
 */
exports.row = function (what, figures, conditions = {}) {
  const rounds = figures.map(round)
  return {
    ...what,
    median: median(rounds),
    min: Math.min(...rounds),
    p25: quantile(rounds, 0.25),
    max: Math.max(...rounds),
    rounds,
    ...conditions
  }
}

/**
 * The rows of a measured cell: CPU, throughput and mean latency.
 *
 * @param {{ workload: string, server: { name: string }, load: object, samples: object[] }} cell
 * @return {object[]}
 */
exports.rowsOf = function ({ workload, server, load, samples }) {
  const figures = name => samples.map(sample => sample[name])
  const { requestsPerSecond, latencyMeanMs } = middle(samples) // of one round, for they belong together
  const conditions = {
    generator: load.generator,
    requestsPerSecond: round(requestsPerSecond),
    connections: load.connections,
    latencyMeanMs: round(latencyMeanMs),
    pipeline: load.pipeline ?? 1,
    errors: 0 // a round with errors is never kept
  }
  const what = (metric, unit) => ({ workload, contender: server.name, metric, unit })
  return [
    exports.row(what('cpu', 'µs/request'), figures('cpu'), conditions),
    exports.row(what('throughput', 'requests/s'), figures('requestsPerSecond'), conditions),
    exports.row(what('latency', 'ms'), figures('latencyMeanMs'), conditions)
  ]
}

/**
 * What is wrong with a result: the shape that every lab keeps, checked before it is written.
 *
 * @param {object} result
 * @return {string[]} sentences; empty when all is well
 */
const problems = exports.problems = function (result) {
  const found = []
  const say = (ok, sentence) => { if (!ok) found.push(sentence) }
  const text = value => typeof value === 'string' && value !== ''
  const { machine = {}, contenders = [], rows = [], rejected = [], missing = [] } = result

  for (const name of ['lab', 'date', 'node', 'command']) say(text(result[name]), `${name} is missing`)
  say(!Number.isNaN(Date.parse(result.date)), 'date is not a time')
  say(text(machine.cpu) && machine.cores > 0 && text(machine.kernel), 'machine needs cpu, cores and kernel')
  for (const { name, version } of contenders) say(text(name) && text(version), `contender ${name} needs a version`)
  for (const { name, how } of missing) say(text(name) && text(how), `missing ${name} needs how`)

  const names = new Set(contenders.map(contender => contender.name))
  const refused = new Set(rejected.map(({ workload, contender }) => `${workload} ${contender}`))
  for (const { workload, contender, reason } of rejected) say(text(workload) && text(contender) && text(reason), `rejected ${contender} needs a reason`)

  for (const row of rows) {
    const name = `${row.workload} ${row.contender}`
    const figures = row.rounds ?? []
    say(text(row.workload) && text(row.metric) && text(row.unit), `${name}: workload, metric and unit are needed`)
    say(names.has(row.contender), `${name}: not among the contenders`)
    say(!refused.has(name), `${name}: rejected and measured`)
    say(figures.length >= 3, `${name}: fewer than three rounds`)
    say(figures.every(figure => Number.isFinite(figure) && figure > 0), `${name}: a figure is not above 0`)
    say(figures.length === 0 || (row.median === median(figures) && row.min === Math.min(...figures) &&
      row.p25 === quantile(figures, 0.25) && row.max === Math.max(...figures)), `${name}: the spread is not that of the rounds`)
    if (row.requestsPerSecond === undefined) continue
    say(row.errors === 0, `${name}: has errors`)
    say(row.connections > 0 && row.latencyMeanMs > 0, `${name}: connections and latencyMeanMs are needed`)
    say(row.requestsPerSecond <= 1.2 * row.connections * (row.pipeline ?? 1) / (row.latencyMeanMs / 1000), `${name}: breaks Little's law`)
  }
  return found
}

/**
 * Write results/LAB.json.
 *
 * @param {object} result
 * @param {string} [folder]
 * @return {string} the file
 * @throws {Error} the result has not the shape
 */
exports.write = function (result, folder = FOLDER) {
  const found = problems(result)
  if (found.length) throw new Error(`the result of ${result.lab} is not sound: ${found.join('; ')}`)
  return save(path.join(folder, `${result.lab}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

/**
 * @param {string} file
 * @param {string} content
 * @return {string} the file
 */
const save = exports.save = function (file, content) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  return file
}

exports.FOLDER = FOLDER
