'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { disbelief, middle, round, spread } = require('../../../command/measure/stats')

/** Where runs write, which git ignores. */
exports.OUT = path.resolve(process.env.KONE_BENCH_OUT || path.join(__dirname, '../../out'))

/** What is committed: complete runs, copied from OUT by `make results`. */
exports.RESULTS = path.join(__dirname, '../../results')

/**
 * One measured quantity of one contender. Figures are rounded first, so that the spread is that of the file.
 *
 *    row({ workload: 'hello', contender: 'kone', metric: 'cpu', unit: 'µs/request' }, [9.9, 10.1, 10])
 */
const row = exports.row = (what, figures, conditions = {}) => completed({ ...what, rounds: figures.map(round), ...conditions })

const completed = row => ({ ...row, ...spread(row.rounds) })

// Metric, unit, and its name in a sample, if that is another one.
const QUANTITIES = [['cpu', 'µs/request'], ['throughput', 'requests/s', 'requestsPerSecond'], ['latency', 'ms', 'latencyMeanMs']]

/** The rows of a measured cell: CPU, throughput and mean latency, unless it names others. */
exports.cellRows = function ({ workload, server, load, samples, isPrecise, quantities = QUANTITIES }) {
  const { requestsPerSecond, latencyMeanMs } = middle(samples) // of one round, because they belong together
  const { generator, connections, pipeline = 1, rate, seconds } = load
  const measured = { requestsPerSecond: round(requestsPerSecond), latencyMeanMs: round(latencyMeanMs) }
  const conditions = { generator, connections, pipeline, rate, seconds, ...measured, ...isPrecise && { isPrecise } }
  return quantities.map(([metric, unit, name = metric]) =>
    row({ workload, contender: server.name, metric, unit }, samples.map(sample => sample[name]), conditions))
}

/** The name of a result's file: `battle.node26`. */
const nameOf = exports.nameOf = ({ lab, node }) => `${lab}.node${parseInt(node.replace(/^v/, ''))}`

/** What is wrong with a result: the shape that every lab keeps, checked before it is written and after it is read. */
const problems = exports.problems = function (result) {
  try {
    return [...shape(result), ...gaps(result)]
  } catch (err) { // a list is no list, for example
    return [`it is not the result of a lab: ${err.message}`]
  }
}

const isText = value => typeof value === 'string' && value !== ''
const isFigure = value => Number.isFinite(value) && value > 0

function * shape (result) {
  const { node, date, machine = {}, contenders = [], rows = [], rejected = [], missing = [] } = result
  for (const name of ['lab', 'date', 'command']) if (!isText(result[name])) yield `${name} is missing`
  if (!/^v\d+\.\d+\.\d+/.test(node)) yield 'node must be a version, as v26.1.0'
  if (Number.isNaN(Date.parse(date))) yield 'date is not a time'
  if (!(isText(machine.cpu) && machine.cores > 0 && isText(machine.kernel))) yield 'machine needs cpu, cores and kernel'
  for (const { name, version } of contenders) if (![name, version].every(isText)) yield `contender ${name} needs a version`
  for (const { name, how } of missing) if (![name, how].every(isText)) yield `missing ${name} needs how`
  for (const { workload, contender, reason } of rejected) {
    if (![workload, contender, reason].every(isText)) yield `rejected ${contender} needs a reason`
  }

  const names = new Set(contenders.map(({ name }) => name))
  const refused = new Set(rejected.map(({ workload, contender }) => `${workload} ${contender}`))
  for (const row of rows) {
    const name = `${row.workload} ${row.contender}`
    if (!names.has(row.contender)) yield `${name}: not among the contenders`
    if (refused.has(name)) yield `${name}: rejected and measured`
    for (const sentence of rowProblems(row)) yield `${name}: ${sentence}`
  }
}

function * rowProblems ({ workload, metric, unit, rounds = [], ...row }) {
  if (![workload, metric, unit].every(isText)) yield 'workload, metric and unit are needed'
  if (rounds.length < 3) yield 'fewer than three rounds'
  if (!rounds.every(isFigure)) yield 'a figure is not above 0'
  const { requestsPerSecond, connections, latencyMeanMs, pipeline } = row
  if (requestsPerSecond === undefined) return
  if (![requestsPerSecond, connections, latencyMeanMs].every(isFigure)) {
    yield 'requestsPerSecond, connections and latencyMeanMs are needed'
  }
  const sample = { requests: 1, errors: 0, requestsPerSecond, connections, latencyMeanMs, pipeline }
  if (!row.rate && disbelief(sample)) yield 'breaks Little\'s law'
}

// What a whole run must hold; one of some contenders (--only) need not.
function * gaps ({ rows = [], derived: { only } = {} }) {
  if (only) return
  const names = [...new Set(rows.map(({ contender }) => contender))]
  const others = names.filter(name => !name.startsWith('kone'))
  if (others.length === names.length) yield 'kone was not measured'
  if (others.length < 2) yield 'fewer than two others were measured'
}

const SHOWN = 3 // of many reasons, which are the same for row after row

/** The first of some reasons, and how many more there are. */
const firstOf = exports.firstOf = reasons =>
  [...reasons.slice(0, SHOWN), ...reasons.length > SHOWN ? [`and ${reasons.length - SHOWN} more`] : []].join('; ')

/** A result as its file has it: a row on a line, without what follows from its rounds. */
const stringify = exports.stringify = function (result) {
  const rows = result.rows.map(({ median, min, max, ...row }) => row)
  return `${block({ ...result, rows }, '  ')}\n`
}

function block (value, indent) {
  const isList = Array.isArray(value)
  const lines = Object.entries(value).filter(([, one]) => one !== undefined).map(([name, one]) => {
    const text = isBlock(one) && indent.length < 6 ? block(one, `${indent}  `) : JSON.stringify(one)
    return `${indent}${isList ? '' : `${JSON.stringify(name)}: `}${text}`
  })
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent.slice(2)}${close}`
}

// What is written on several lines: a list of objects, and `derived`.
const isBlock = value => Array.isArray(value)
  ? typeof value[0] === 'object' && !Array.isArray(value[0])
  : value !== null && typeof value === 'object' && 'remarks' in value

/** A result from the text of its file. */
const parse = exports.parse = function (text) {
  const result = JSON.parse(text)
  const [problem] = Array.isArray(result?.rows) && result.rows.length ? problems(result) : ['it is not the result of a lab: it has no rows']
  if (problem) throw new Error(problem)
  const lists = ['missing', 'rejected', 'skipped', 'conditions'].map(name => [name, result[name] ?? []])
  const derived = { remarks: [], discarded: [], responses: [], ...result.derived }
  return { ...result, ...Object.fromEntries(lists), derived, rows: result.rows.map(completed) }
}

/** The results in a folder and below it. */
exports.read = function (folder) {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }).filter(file => file.endsWith('.json')).sort() : []
  const results = []
  const faults = []
  for (const file of files) {
    try {
      results.push(parse(fs.readFileSync(path.join(folder, file), 'utf8')))
    } catch (err) {
      faults.push(`${file} is left out: ${err instanceof SyntaxError ? `it is not JSON (${err.message})` : err.message}`)
    }
  }
  return { results, faults }
}

/** Write out/LAB.nodeMAJOR.json. */
exports.write = function (result, folder = exports.OUT) {
  const found = problems(result)
  if (found.length) throw new Error(`the result of ${result.lab} is not sound: ${firstOf(found)}`)
  return save(path.join(folder, `${nameOf(result)}.json`), stringify(result))
}

/** Write a file as a whole or not at all: what was there stays until the new content is on the disk. */
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
