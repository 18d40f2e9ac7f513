'use strict'

const { pairedRatio } = require('../run/stats')
const text = require('./text')

const { short } = text

/*
 * What a lab shows of its result: a title and sections `{ heading, text?, table?, chart?, notes? }`. Kept in the
 * result, where charts name rows by their index, so that a page can be made from the JSON alone.
 */

/**
 * A view as its result keeps it: rows of charts by their index.
 *
 * @param {object} result
 * @param {{ title: string, sections: object[] }} view
 * @return {object} for JSON
 */
exports.indexed = function ({ rows }, { title, sections }) {
  return { title, sections: sections.map(section => charted(section, row => rows.indexOf(row))) }
}

/**
 * The view of a result: the one its lab has kept, or else every quantity with its chart and its table.
 *
 * @param {object} result
 * @return {{ title: string, sections: object[] }}
 */
exports.viewOf = function (result) {
  const { lab, rows, derived: { view } = {} } = result
  if (!view) return { title: lab, sections: general(result) }
  return { title: view.title, sections: view.sections.map(section => charted(section, index => rows[index])) }
}

/**
 * Targets of a lab as lines of a table.
 *
 * @param {object[]} targets `{ what, target?, median?, min?, max? }`
 * @return {string[][]}
 */
exports.targetLines = function (targets) {
  return targets.map(({ what, target, median, min, max }) => {
    const aim = target ? `≤ ${target}` : '–'
    if (!Number.isFinite(median)) return [what, aim, 'not measured', '', '']
    const verdict = target ? (median <= target ? 'reached' : 'MISSED') : ''
    return [what, aim, short(median), Number.isFinite(min) ? `${short(min)}–${short(max)}` : '', verdict]
  })
}

/**
 * What a reader must know beside the figures of a workload.
 *
 * @param {object} result
 * @param {string} workload
 * @return {string[]} sentences
 */
const notes = exports.notes = function ({ rejected = [], derived: { remarks = [], responses = [], about = {} } = {} }, workload) {
  const here = one => one.workload === workload
  const grouped = new Map()
  for (const { contender, remark } of remarks.filter(here)) {
    const kind = remark.replace(/ \(.*/, '')
    grouped.set(kind, [...grouped.get(kind) ?? [], `${contender}${remark.slice(kind.length)}`])
  }
  const verified = responses.filter(here)
  return [
    ...verified.filter(({ contender }) => about[contender]).map(({ contender }) => `${contender}: ${about[contender]}`),
    ...[...grouped].map(([kind, contenders]) => `${kind}: ${contenders.join(', ')}`),
    ...verified.filter(({ headers }) => headers?.length)
      .map(({ contender, headers }) => `headers of ${contender}: ${headers.join(', ')}`),
    ...rejected.filter(here).map(({ contender, reason }) => `${contender} was rejected: ${reason}`)
  ]
}

function general (result) {
  const { rows, rejected = [], derived: { targets = [] } = {} } = result
  const sections = []
  if (targets.length) {
    sections.push({ heading: 'targets', table: [['', 'target', 'figure', 'spread', ''], ...exports.targetLines(targets)] })
  }
  const workloads = new Set([...rows, ...rejected].map(({ workload }) => workload))
  for (const workload of workloads) {
    const here = rows.filter(row => row.workload === workload)
    const metrics = [...new Set(here.map(({ metric }) => metric))]
    metrics.forEach((metric, i) => sections.push({
      ...quantity(workload, metric, here.filter(row => row.metric === metric)),
      notes: i === metrics.length - 1 ? notes(result, workload) : []
    }))
    if (!metrics.length) sections.push({ heading: workload, notes: notes(result, workload) })
  }
  return sections
}

// One quantity of one workload; the smallest first, but for rates.
function quantity (workload, metric, rows) {
  const [{ unit }] = rows
  const isRate = /\/s$/.test(unit)
  rows.sort((a, b) => isRate ? b.median - a.median : a.median - b.median)
  const to = rows.find(({ contender }) => contender === 'node') ?? rows.find(({ contender }) => !contender.startsWith('kone'))
  const ratio = row => {
    return text.ratio(to && pairedRatio(row.rounds, to.rounds))
  }
  return {
    heading: `${workload}: ${metric}`,
    chart: { rows, caption: `${unit}: ${isRate ? 'longer' : 'shorter'} is better; bars are medians, whiskers the lowest and highest round` },
    table: [
      ['', unit, 'min', 'p25', 'max', 'rounds', ...to ? [`÷ ${to.contender}`] : []],
      ...rows.map(row => [
        row.contender, short(row.median), short(row.min), short(row.p25), short(row.max), String(row.rounds.length),
        ...to ? [row === to ? '1' : ratio(row)] : []
      ])
    ]
  }
}

function charted (section, turn) {
  const { chart } = section
  if (!chart) return section
  const has = row => row !== undefined && row !== -1
  if (!chart.series) return { ...section, chart: { ...chart, rows: chart.rows.map(turn).filter(has) } }
  const series = chart.series.map(({ name, points }) => ({
    name,
    points: points.map(point => ({ ...point, row: turn(point.row) })).filter(({ row }) => has(row))
  }))
  return { ...section, chart: { ...chart, series } }
}
