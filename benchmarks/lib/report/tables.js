'use strict'

const { compact, ratio, short, two, whole } = require('./text')

/*
 * The tables that labs share. Each gives a section `{ heading, text?, table?, each?, notes? }`, or null where nothing
 * was measured; the terminal and the pages show the same sections.
 */

/** Who stands in every first table, and what it is called there. */
const NAMES = { net: 'raw socket', kone: 'kone', node: '`node:http`', cheapest: '`node:http`, cheapest form', koa: 'Koa 2' }
const AS = { net: 'net', kone: 'kone', node: 'node', cheapest: 'node-cheapest', koa: 'koa' } // the contenders

/**
 * The first table of every lab: what kone and Koa take above a raw socket, which is what a framework can change, then what a
 * request takes through kone, node:http and Koa, and kone ÷ Koa, or node:http where there is no Koa.
 *
 * @param {{ figures: Figures, what: string, workload: string, as?: object }[]} all as: the contender that stands for
 *   a name of NAMES, if not the one of the same name; `null` for nobody
 * @param {{ unit?: string }} [how]
 * @return {object|null}
 */
exports.overview = function (all, { unit = 'request' } = {}) {
  const lines = all.map(({ figures, what, workload, as: given }) => {
    const as = { ...AS, ...given }
    const row = name => figures.row(workload, as[name])
    return {
      what,
      rows: Object.fromEntries(Object.keys(NAMES).map(name => [name, row(name)])),
      ratio: name => figures.ratio(workload, as.kone, as[name])
    }
  }).filter(({ rows }) => rows.kone)
  if (!lines.length) return null

  const isThere = name => lines.some(({ rows }) => rows[name])
  const names = ['kone', 'node', 'koa'].filter(isThere)
  const [other] = ['koa', 'node'].filter(isThere)
  const above = ['kone', other].filter(Boolean)
  const over = ({ net, ...rows }) => net ? above.map(name => rows[name] ? two(rows[name].median - net.median) : '–').join(' / ') : '–'
  const absent = Object.keys(NAMES).filter(name => !isThere(name))
  return {
    heading: `Server CPU per ${unit}, µs`,
    table: [
      ['', ...isThere('net') ? [`above the socket: ${above.map(name => NAMES[name]).join(' / ')}`] : [], ...names.map(name => NAMES[name]),
        ...other ? [`kone ÷ ${NAMES[other]}`] : []],
      ...lines.map(({ what, rows, ratio: ratioOf }) => [
        what, ...isThere('net') ? [over(rows)] : [], ...names.map(name => short(rows[name]?.median)), ...other ? [ratio(ratioOf(other))] : []
      ])
    ],
    notes: [
      isThere('net') && '*above the socket*: the time that a framework can change. The raw socket finds at most where a ' +
        'request ends, and writes fixed bytes; what it takes is the kernel’s and Node’s.',
      absent.length && `Not measured: ${absent.map(name => NAMES[name]).join('; ')}.`
    ].filter(Boolean)
  }
}

/**
 * All contenders of a workload, the cheapest first.
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ heading?: string, to?: string[], unit?: string, columns?: object, text?: string, verified?: string }} [how]
 *   to: who is divided by; columns: more of them, by name a function of a contender's row; verified: the workload as which
 *   its responses were compared, if it has another name
 * @return {object|null}
 */
exports.ranking = function (figures, workload, { heading = workload, to = ['koa', 'node'], unit = 'request', columns = {}, verified, ...rest } = {}) {
  const rows = figures.rows(workload)
  if (!rows.length) return null
  const references = to.filter(name => figures.row(workload, name))
  const load = figures.load(workload)
  const socket = figures.row(workload, 'net')
  return {
    heading: `${heading}${load ? `: ${load}` : ''}`,
    ...rest,
    table: [
      ['', `CPU µs/${unit}`, ...socket ? ['above the socket'] : [], ...references.map(name => `÷ ${name}`), `${unit}s/s`, ...socket ? [] : ['lowest–highest'],
        ...Object.keys(columns)],
      ...rows.map(row => [
        figures.versioned(row.contender), short(row.median), ...socket ? [two(row.median - socket.median)] : [],
        ...references.map(name => name === row.contender ? '1' : ratio(figures.ratio(workload, row.contender, name))),
        whole(row.requestsPerSecond), ...socket ? [] : [`${short(row.min)}–${short(row.max)}`],
        ...Object.values(columns).map(of => of(row))
      ])
    ],
    notes: figures.notes([workload], verified && [verified])
  }
}

/**
 * One metric in several workloads, a column each.
 *
 * @param {Figures} figures
 * @param {{ heading: string, columns: [string, string, string?][], names?: string[], to?: string, verified?: string }} how
 *   columns: head, workload and metric; to: the contender that the first column is divided by; verified: as in ranking
 * @return {object|null}
 */
exports.matrix = function (figures, { columns, names, to, verified, ...rest }) {
  const present = columns.filter(([, workload, metric]) => figures.rows(workload, metric).length)
  if (!present.length) return null
  const [[first, main, metric]] = present
  const at = name => figures.row(main, name, metric)?.median ?? Infinity
  const measured = (names ?? figures.names)
    .filter(name => present.some(([, workload, metric]) => figures.row(workload, name, metric)))
  const all = names ? measured : measured.sort((a, b) => at(a) - at(b))
  return {
    ...rest,
    table: [
      ['', ...present.map(([head]) => head), ...to ? [`${first} ÷ ${to}`] : []],
      ...all.map(name => [
        figures.versioned(name), ...present.map(([, workload, metric]) => shown(figures.row(workload, name, metric))),
        ...to ? [name === to ? '1' : ratio(figures.ratio(main, name, to, { metric }))] : []
      ])
    ],
    notes: [...rest.notes ?? [], ...figures.notes([...new Set(present.map(([, workload]) => workload))], verified && [verified])]
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
  isLast: true,
  table: [head, ...lines.map(([what, ...cells]) => [what, ...cells.map(one => typeof one === 'number' ? two(one) : typeof one === 'string' ? one : ratio(one))])]
})

// A median as short as its unit allows.
function shown (row) {
  if (!row) return '–'
  if (row.unit === 'bytes/connection') return short(row.median / 1024)
  if (/^bytes/.test(row.unit)) return compact(row.median)
  return /\/s$/.test(row.unit) || row.median >= 1e5 ? whole(row.median) : short(row.median)
}
