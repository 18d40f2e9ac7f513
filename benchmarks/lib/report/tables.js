'use strict'

const { compact, ratio, short, two, whole } = require('./text')

/*
 * The tables that labs share. Each gives a section `{ heading, text?, table?, chart?, notes? }`, or null where nothing
 * was measured; the terminal and the pages show the same sections.
 */

/** Who stands in every first table, and what it is called there. */
const NAMES = { net: 'raw socket', kone: 'kone', node: '`node:http`', cheapest: '`node:http`, cheapest form', koa: 'Koa 2' }
const RATIOS = ['node', 'cheapest', 'koa']

/**
 * The first table of every lab: what a request takes through a raw socket, kone, node:http and Koa, then what each
 * takes above the raw socket, which is what a framework can change, then ratios.
 *
 * @param {{ figures: Figures, what: string, workload: string, as?: object }[]} lines as: the contender that stands for
 *   a name of NAMES, if not the one of the same name; `null` for nobody
 * @param {{ unit?: string, heading?: string }} [how]
 * @return {object|null}
 */
exports.overview = function (lines, { unit = 'request', heading = `Server CPU per ${unit}, µs` } = {}) {
  const of = ({ figures, workload, as = {} }, name) => {
    const contender = as[name] === undefined ? (name === 'cheapest' ? 'node-cheapest' : name) : as[name]
    if (contender === null) return undefined
    return name === 'net' ? figures.socket(workload, contender) : figures.row(workload, contender)
  }
  const ratioOf = ({ figures, workload, as = {} }, name) =>
    figures.ratio(workload, as.kone ?? 'kone', as[name] ?? (name === 'cheapest' ? 'node-cheapest' : name))
  const scoreOf = ({ figures, workload, as = {} }, name) =>
    figures.above(workload, as.kone ?? 'kone', as[name] ?? (name === 'cheapest' ? 'node-cheapest' : name), as.net)
  const present = lines.filter(line => of(line, 'kone'))
  if (!present.length) return null
  const names = Object.keys(NAMES).filter(name => present.some(line => of(line, name)))
  const absent = Object.keys(NAMES).filter(name => !names.includes(name))
  const above = names.includes('net') ? names.filter(name => name !== 'net') : []
  const ratios = RATIOS.filter(name => present.some(line => ratioOf(line, name)))
  const scores = ratios.filter(name => present.some(line => scoreOf(line, name)))
  const isOfHarness = present.some(line => of(line, 'net')?.isOfHarness)
  const beyond = (line, name) => of(line, name) && of(line, 'net') ? two(of(line, name).median - of(line, 'net').median) : '–'
  return {
    heading,
    table: [
      ['', ...names.map(name => NAMES[name]), ...above.map(name => `${NAMES[name]} − socket`), ...ratios.map(name => `kone ÷ ${NAMES[name]}`),
        ...scores.map(name => `− socket: kone ÷ ${NAMES[name]}`)],
      ...present.map(line => [
        line.what,
        ...names.map(name => `${short(of(line, name)?.median)}${of(line, name)?.isOfHarness ? ' *' : ''}`),
        ...above.map(name => beyond(line, name)),
        ...ratios.map(name => ratio(ratioOf(line, name))),
        ...scores.map(name => score(scoreOf(line, name)))
      ])
    ],
    notes: [
      ...names.includes('net')
        ? ['*− socket*: the time that a framework can change. The raw socket parses nothing and writes fixed bytes; what it takes is the kernel’s and Node’s.',
            ...scores.length ? ['*− socket: kone ÷ …*: (kone − socket) ÷ (the other − socket), of medians.'] : []]
        : [],
      ...isOfHarness ? ['\\*: the raw socket was no contender; its figure is of the generator’s own measurement, after the rounds.'] : [],
      ...absent.length ? [`Not measured in this run: ${absent.map(name => NAMES[name]).join(', ')}.`] : []
    ]
  }
}

/**
 * All contenders of a workload, the cheapest first.
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ heading?: string, to?: string[], unit?: string, columns?: object, text?: string }} [how] to: who is divided by;
 *   columns: more of them, by name a function of a contender's row
 * @return {object|null}
 */
exports.ranking = function (figures, workload, { heading = workload, to = ['node', 'koa'], unit = 'request', columns = {}, ...rest } = {}) {
  const rows = figures.rows(workload)
  if (!rows.length) return null
  const references = to.filter(name => figures.row(workload, name))
  const load = figures.load(workload)
  const socket = figures.socket(workload)
  const scored = references.filter(name => figures.above(workload, 'kone', name))
  return {
    heading: `${heading}${load ? `: ${load}` : ''}`,
    ...rest,
    table: [
      ['', `CPU µs/${unit}`, 'lowest–highest', ...socket ? ['− socket'] : [], ...references.map(name => `÷ ${name}`),
        ...scored.map(name => `− socket: ÷ ${name}`), `${unit}s/s`, ...Object.keys(columns)],
      ...rows.map(row => [
        figures.versioned(row.contender), short(row.median), range(row),
        ...socket ? [two(Math.max(0, row.median - socket.median))] : [],
        ...references.map(name => name === row.contender ? '1' : ratio(figures.ratio(workload, row.contender, name))),
        ...scored.map(name => name === row.contender ? '1' : score(figures.above(workload, row.contender, name))),
        whole(row.requestsPerSecond),
        ...Object.values(columns).map(of => of(row))
      ])
    ],
    notes: figures.notes([workload])
  }
}

/**
 * One metric in several workloads, a column each.
 *
 * @param {Figures} figures
 * @param {{ heading: string, columns: [string, string, string?][], names?: string[], first?: string, to?: string }} how
 *   columns: head, workload and metric; to: the contender that the first column is divided by
 * @return {object|null}
 */
exports.matrix = function (figures, { heading, columns, names, first = '', to, ...rest }) {
  const present = columns.filter(([, workload, metric]) => figures.rows(workload, metric).length)
  if (!present.length) return null
  const [[, main, metric]] = present
  const all = names ?? figures.names
  const at = name => figures.row(main, name, metric)?.median ?? Infinity
  const sorted = list => names ? list : list.sort((a, b) => at(a) - at(b))
  const cell = (name, [, workload, metric]) => shown(figures.row(workload, name, metric))
  return {
    heading,
    ...rest,
    table: [
      [first, ...present.map(([head]) => head), ...to ? [`÷ ${to}`] : []],
      ...sorted(all.filter(name => present.some(([, workload, metric]) => figures.row(workload, name, metric)))).map(name => [
        figures.versioned(name), ...present.map(column => cell(name, column)),
        ...to ? [name === to ? '1' : ratio(figures.ratio(main, name, to, { metric }))] : []
      ])
    ],
    notes: [...rest.notes ?? [], ...figures.notes([...new Set(present.map(([, workload]) => workload))])]
  }
}

/**
 * What a report of other years says beside what is measured here.
 *
 * @param {string[]} head
 * @param {[string, number|string|null, ...(object|null)[]][]} lines what, the report's ratio, and the spreads measured here
 * @return {object}
 */
exports.beside = (head, lines) => ({
  heading: 'Beside the original report',
  table: [head, ...lines.map(([what, ...cells]) => [what, ...cells.map(one => typeof one === 'number' ? two(one) : typeof one === 'string' ? one : ratio(one))])]
})

const score = value => value === undefined ? '–' : two(value)

/** Lowest and highest round. */
const range = exports.range = row => row ? `${short(row.min)}–${short(row.max)}` : '–'

/** A median as short as its unit allows. */
const shown = exports.shown = function (row) {
  if (!row) return '–'
  if (row.unit === 'bytes/connection') return short(row.median / 1024)
  return /^bytes|\/s$/.test(row.unit) || row.median >= 1e5 ? (/^bytes/.test(row.unit) ? compact(row.median) : whole(row.median)) : short(row.median)
}
