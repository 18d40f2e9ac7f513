'use strict'

const { bars } = require('./svg')

/*
 * The two charts that several pages have.
 */

const SPREAD = 'Bars are medians, whiskers the lowest and the highest round.'

/**
 * What each contender of a workload costs, the cheapest first; by the rows that it is judged by.
 *
 *    costs(figures, 'hello', { name: 'battle', title: 'Hello world' })
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ name: string, title: string, unit?: string }} chart name: of the files; unit: what is paid for
 * @return {object|null} null where nothing was measured
 */
exports.costs = function (figures, workload, { name, title, unit = 'request' }) {
  const rows = figures.rows(figures.judged(workload))
  if (!rows.length) return null
  const load = figures.load(figures.judged(workload))
  return {
    name,
    above: true,
    alt: `Bar chart: ${title}; ${load && `${load}; `}server CPU per ${unit} of ${rows.map(({ contender }) => contender).join(', ')}`,
    ...bars({
      title: `${title}, Node ${figures.major}${load && `; ${load}`}`,
      subtitle: `server CPU per ${unit}, µs: shorter is better. ${SPREAD}`,
      unit: `µs per ${unit}`,
      rows: rows.map(({ contender, median, min, max }) => ({ label: contender, median, min, max, kind: kindOf(contender) }))
    })
  }
}

/**
 * kone ÷ another contender, workload by workload, with a line at 1.
 *
 *    ratios(figures, ['post'], { name: 'front', title: 'kone ÷ node:http', to: 'node', label: 'node:http' })
 *
 * @param {Figures} figures
 * @param {string[]} workloads
 * @param {object} chart
 * @param {string} chart.name of the files
 * @param {string} chart.title
 * @param {string} chart.to the other contender
 * @param {string} chart.label its name at the line
 * @param {(workload: string) => string} [chart.nameOf] what a workload is called
 * @param {boolean} [chart.isSorted] the lowest first, instead of in their order
 * @return {object|null}
 */
exports.ratios = function (figures, workloads, { name, title, to, label, nameOf = workload => workload, isSorted }) {
  const rows = workloads.map(workload =>
    ({ label: nameOf(workload), ...figures.ratio(workload, 'kone', to), kind: 'ours' }))
  if (!rows.length) return null
  if (isSorted) rows.sort((a, b) => a.median - b.median)
  return {
    name,
    above: true,
    alt: `Bar chart: ${title}; server CPU per request of kone divided by that of ${label}, for ${rows.map(({ label }) => label).join('; ')}`,
    ...bars({
      title: `${title}, Node ${figures.major}`,
      subtitle: `server CPU per request; below 1 kone costs less. ${SPREAD}`,
      unit: `kone ÷ ${label}`,
      digits: 2,
      mark: { value: 1, label },
      rows
    })
  }
}

const kindOf = name => name === 'kone' ? 'ours' : name.startsWith('kone') ? 'ours too' : 'theirs'
