'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { disbelief, median, middle, quantile, round } = require('./stats')

/** Where runs write, which git ignores. */
const OUT = exports.OUT = path.resolve(process.env.KONE_BENCH_OUT || path.join(__dirname, '../../out'))

/** What is committed: complete runs, copied from OUT by `make results`. */
exports.RESULTS = path.join(__dirname, '../../results')

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
const row = exports.row = function (what, figures, conditions = {}) {
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
exports.cellRows = function ({ workload, server, load, samples }) {
  const figures = name => samples.map(sample => sample[name])
  const { requestsPerSecond, latencyMeanMs } = middle(samples) // of one round, for they belong together
  const conditions = {
    generator: load.generator,
    requestsPerSecond: round(requestsPerSecond),
    connections: load.connections,
    latencyMeanMs: round(latencyMeanMs),
    pipeline: load.pipeline ?? 1,
    seconds: load.seconds,
    errors: 0 // a round with errors is never kept
  }
  const what = (metric, unit) => ({ workload, contender: server.name, metric, unit })
  return [
    row(what('cpu', 'µs/request'), figures('cpu'), conditions),
    row(what('throughput', 'requests/s'), figures('requestsPerSecond'), conditions),
    row(what('latency', 'ms'), figures('latencyMeanMs'), conditions)
  ]
}

/**
 * The name of the rows by which a workload is judged: those of wrk where the result has them, because they differ
 * less from round to round. battle measures `hello` by autocannon, and by wrk as `hello, wrk`.
 *
 *    judged(result, 'hello') // 'hello, wrk'
 *
 * @param {object} result
 * @param {string} workload
 * @return {string} the workload itself where there is one measurement of it
 */
exports.judged = function ({ rows }, workload) {
  const byWrk = `${workload}, wrk`
  return rows.some(row => row.workload === byWrk) ? byWrk : workload
}

/**
 * The row of a contender.
 *
 *    rowOf(result, 'hello', 'kone')?.median         // its CPU per request
 *    rowOf(result, 'idle', 'kone', 'memory')?.median
 *
 * @param {object} result
 * @param {string} workload
 * @param {string} contender
 * @param {string} [metric]
 * @return {object|undefined}
 */
exports.rowOf = function ({ rows }, workload, contender, metric = 'cpu') {
  return rows.find(row => row.workload === workload && row.contender === contender && row.metric === metric)
}

/**
 * The rows of a workload, the smallest median first.
 *
 * @param {object} result
 * @param {string} workload
 * @param {string} [metric]
 * @return {object[]}
 */
exports.rowsOf = function ({ rows }, workload, metric = 'cpu') {
  return rows.filter(row => row.workload === workload && row.metric === metric).sort((a, b) => a.median - b.median)
}

/**
 * The name of a result's files.
 *
 *    nameOf({ lab: 'battle', node: 'v26.10.0' }) // 'battle.node26'
 *
 * @param {{ lab: string, node: string }} result
 * @return {string}
 */
const nameOf = exports.nameOf = ({ lab, node }) => `${lab}.node${parseInt(node.replace(/^v/, ''))}`

/**
 * What is wrong with a result: the shape that every lab keeps, checked before it is written.
 *
 * @param {object} result
 * @return {string[]} sentences; empty when all is well
 */
const problems = exports.problems = function (result) {
  const { machine = {}, contenders = [], rows = [], rejected = [], missing = [] } = result
  const found = []
  const say = (ok, sentence) => { if (!ok) found.push(sentence) }

  for (const name of ['lab', 'date', 'node', 'command']) say(isText(result[name]), `${name} is missing`)
  say(!Number.isNaN(Date.parse(result.date)), 'date is not a time')
  say(isText(machine.cpu) && machine.cores > 0 && isText(machine.kernel), 'machine needs cpu, cores and kernel')
  for (const { name, version } of contenders) say(isText(name) && isText(version), `contender ${name} needs a version`)
  for (const { name, how } of missing) say(isText(name) && isText(how), `missing ${name} needs how`)
  for (const { workload, contender, reason } of rejected) {
    say(isText(workload) && isText(contender) && isText(reason), `rejected ${contender} needs a reason`)
  }

  const names = new Set(contenders.map(({ name }) => name))
  const refused = new Set(rejected.map(({ workload, contender }) => `${workload} ${contender}`))
  for (const row of rows) {
    const name = `${row.workload} ${row.contender}`
    say(names.has(row.contender), `${name}: not among the contenders`)
    say(!refused.has(name), `${name}: rejected and measured`)
    for (const sentence of [...rowProblems(row), ...loadProblems(row)]) found.push(`${name}: ${sentence}`)
  }
  return [...found, ...gaps(result)]
}

const isText = value => typeof value === 'string' && value !== ''
const isFigure = value => Number.isFinite(value) && value > 0

function rowProblems ({ workload, metric, unit, median: middle, min, p25, max, rounds = [] }) {
  const found = []
  if (![workload, metric, unit].every(isText)) found.push('workload, metric and unit are needed')
  if (rounds.length < 3) found.push('fewer than three rounds')
  if (!rounds.every(isFigure)) found.push('a figure is not above 0')
  const same = middle === median(rounds) && p25 === quantile(rounds, 0.25) &&
    min === Math.min(...rounds) && max === Math.max(...rounds)
  if (!same) found.push('the spread is not that of the rounds')
  return found
}

function loadProblems ({ requestsPerSecond, connections, latencyMeanMs, pipeline = 1, errors }) {
  if (requestsPerSecond === undefined) return []
  const found = []
  if (errors !== 0) found.push('has errors')
  if (![requestsPerSecond, connections, latencyMeanMs].every(isFigure)) {
    found.push('requestsPerSecond, connections and latencyMeanMs are needed')
  }
  if (disbelief({ requests: 1, errors: 0, requestsPerSecond, connections, latencyMeanMs, pipeline })) {
    found.push('breaks Little\'s law')
  }
  return found
}

const LOADED = ['versions', 'connections', 'static', 'rpc', 'mw', 'battle']
const HEADLINE = ['kone', 'koa', 'node'] // of battle

// What a whole run must hold; one of some contenders (--only) need not.
function gaps ({ lab, rows = [], rejected = [], missing = [], derived: { only } = {} }) {
  if (only) return []
  const found = []
  const names = [...new Set(rows.map(({ contender }) => contender))]
  const others = names.filter(name => !name.startsWith('kone'))
  if (others.length === names.length) found.push('kone was not measured')
  if (others.length < 2) found.push('fewer than two others were measured')
  if (LOADED.includes(lab) && !rows.some(row => row.requestsPerSecond)) found.push('no row has requestsPerSecond')
  if (lab === 'battle') {
    const absent = [...missing.map(({ name }) => name), ...rejected.map(({ contender }) => contender)]
    for (const name of HEADLINE.filter(name => !absent.includes(name))) {
      const is = row => row.contender === name && row.workload === 'hello' && row.metric === 'cpu' && row.unit === 'µs/request'
      if (!rows.some(is)) found.push(`${name} has no row of CPU µs/request in hello`)
    }
  }
  return found
}

const SHOWN = 3 // of many reasons, which are the same for row after row

/**
 * The first of some reasons, and how many more there are.
 *
 *    firstOf(['a', 'b', 'c', 'd', 'e']) // 'a; b; c; and 2 more'
 *
 * @param {string[]} reasons
 * @return {string}
 */
const firstOf = exports.firstOf = reasons => [
  ...reasons.slice(0, SHOWN),
  ...reasons.length > SHOWN ? [`and ${reasons.length - SHOWN} more`] : []
].join('; ')

/**
 * Write out/LAB.nodeMAJOR.json.
 *
 * @param {object} result
 * @param {string} [folder]
 * @return {string} the file
 * @throws {Error} the result has not the shape, or it cannot be written
 */
exports.write = function (result, folder = OUT) {
  const found = problems(result)
  if (found.length) throw new Error(`the result of ${result.lab} is not sound: ${firstOf(found)}`)
  return save(path.join(folder, `${nameOf(result)}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

/**
 * Write a file as a whole or not at all: what was there stays until the new content is on the disk.
 *
 * @param {string} file
 * @param {string} content
 * @return {string} the file
 * @throws {Error} of the file system: the disk is full, for example
 */
const save = exports.save = function (file, content) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const fresh = `${file}.${process.pid}`
  try {
    fs.writeFileSync(fresh, content, { flush: true })
    fs.renameSync(fresh, file)
    return file
  } catch (err) {
    fs.rmSync(fresh, { force: true })
    throw err
  }
}
