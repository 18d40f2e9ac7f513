'use strict'

const { markdownTable } = require('markdown-table')
const text = require('./text')

// A figure and its spread stay on one line in a narrow column: a browser would break behind the dash.
const NO_BREAK = '\u00a0'
const DASH = exports.DASH = '–\u2060'

/**
 * A table. The first column is text; the others are aligned to the right, unless they hold words.
 *
 *    table(['', 'µs'], [['kone', '10.2']])
 *
 * @param {string[]} head
 * @param {string[][]} rows
 * @param {{ text?: number[] }} [columns] text: the columns, by index, that are aligned to the left besides the first
 * @return {string} markdown
 */
exports.table = function (head, rows, { text: left = [] } = {}) {
  const align = head.map((_, i) => i === 0 || left.includes(i) ? 'l' : 'r')
  const cells = row => head.map((_, i) => String(row[i] ?? '').replaceAll('|', '\\|').replaceAll('\n', ' '))
  return markdownTable([cells(head), ...rows.map(cells)], { align, alignDelimiters: false, padding: true, stringLength: () => 1 })
}

/**
 * A ratio with its spread, without a place to break the line.
 *
 * @param {{ median: number, min?: number, max?: number }|null|undefined} spread
 * @return {string} `–` where it is missing
 */
exports.ratio = spread => text.ratio(spread).replace(' ', NO_BREAK).replace(/(?<=\d)–/, DASH)

/**
 * A figure with three digits that matter.
 *
 * @param {{ median: number }|undefined} row
 * @return {string}
 */
exports.figure = row => row ? text.short(row.median) : '–'

/**
 * Lowest and highest round.
 *
 * @param {{ min: number, max: number }|undefined} row
 * @return {string}
 */
exports.range = row => row ? `${text.short(row.min)}${DASH}${text.short(row.max)}` : '–'

/**
 * @param {number} value
 * @return {string} with separators, as `12,345`
 */
exports.whole = value => Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–'

/**
 * A picture in light and dark.
 *
 * @param {{ name: string, alt: string, folder?: string }} of name: of the files, without `-light.svg`
 * @return {string} HTML, which markdown takes as it is
 */
exports.picture = ({ name, alt, folder = './charts' }) => `<picture>
<source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.svg">
<img src="${folder}/${name}-light.svg" alt="${text.escape(alt)}">
</picture>`

/**
 * @param {string[]} items
 * @return {string}
 */
exports.list = items => items.map(item => `- ${item}`).join('\n')

/**
 * What a report says beside what is measured here.
 *
 * @param {{ what: string, report: number, here: object|null }[]} lines here: a spread
 * @param {{ report?: string, here?: string }} [heads]
 * @return {string} a table; its last column says whether the report's figure lies within the rounds measured here
 */
exports.beside = function (lines, { report = 'report', here = 'here (lowest–highest round)' } = {}) {
  return exports.table(['', report, here, ''], lines.map(({ what, report, here }) =>
    [what, text.two(report), exports.ratio(here), verdict(report, here)]), { text: [3] })
}

function verdict (report, here) {
  if (!here) return 'not measured'
  if (report >= here.min && report <= here.max) return 'agrees'
  const sides = [report > 1, here.median > 1]
  if (sides[0] !== sides[1]) return 'differs'
  return Math.abs(Math.log(here.median)) > Math.abs(Math.log(report)) ? 'same direction, more' : 'same direction, less'
}

/** Two digits behind the point, or three that matter. */
exports.two = text.two

/**
 * @param {number} value
 * @return {string} with two digits behind the point, or as many as it has
 */
exports.threshold = value => Number(value.toFixed(2)) === value ? value.toFixed(2) : String(value)
