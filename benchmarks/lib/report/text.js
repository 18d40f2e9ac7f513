'use strict'

const Table = require('cli-table3')

const BORDERLESS = {
  ...Object.fromEntries(['top', 'bottom', 'left', 'right', 'mid'].flatMap(side =>
    [side, `${side}-mid`, `${side}-left`, `${side}-right`].map(name => [name, '']))),
  'mid-mid': '',
  middle: '  '
}

/**
 * Columns as wide as their widest cell; numbers to the right.
 *
 *    table([['', 'req/s'], ['kone', '50000']])
 *
 * @param {string[][]} rows the first has the names of the columns
 * @return {string}
 */
exports.table = function (rows) {
  const [names, ...lines] = rows.map(row => rows[0].map((_, i) => row[i] ?? ''))
  const drawn = new Table({
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: names.map((_, i) => i > 0 && !/[a-z]{3}/.test(lines[0]?.[i] ?? '') ? 'right' : 'left')
  })
  const rule = names.map((_, i) => '-'.repeat(Math.max(...[names, ...lines].map(row => [...row[i]].length))))
  drawn.push(names, rule, ...lines)
  return drawn.toString().split('\n').map(line => line.trimEnd()).join('\n')
}

/**
 * A run in the form autocannon has printed since its first version, and the report this lab goes back to.
 *
 *    ------- kone -------
 *    Hello World
 *    Stat         Avg   Stdev Max
 *    Latency (ms) 1.2   0.4   9
 *
 * @param {{ name: string, body: string, sample: object }} run a sample of lib/load/autocannon.js
 * @return {string}
 */
exports.block = function ({ name, body, sample }) {
  const { latency, perSecond, requests, seconds, bytes } = sample
  const three = ({ average, stddev, max }, show) => [average, stddev, max].map(show)
  const rows = [
    ['Stat', 'Avg', 'Stdev', 'Max'],
    ['Latency (ms)', ...three(latency, number)],
    ['Req/Sec', ...three(perSecond.requests, number)],
    ['Bytes/Sec', ...three(perSecond.bytes, size)]
  ]
  const widths = [0, 1, 2].map(i => Math.max(...rows.map(row => row[i].length)))
  const lines = rows.map(row => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' ').trimEnd())
  return [
    `------- ${name} -------`,
    shortened(body),
    ...lines,
    '',
    `${thousands(requests)} requests in ${Math.round(seconds)}s, ${size(bytes)} read`
  ].join('\n')
}

/**
 * Bytes as people say them, in steps of 1000: `1.5 MB`.
 *
 * @param {number} bytes
 * @return {string}
 */
const size = exports.size = function (bytes) {
  const units = ['B', 'kB', 'MB', 'GB']
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)))
  return `${number(bytes / 1000 ** step)} ${units[step]}`
}

/**
 * Three digits that matter.
 *
 * @param {number} value
 * @return {string}
 */
exports.short = value => value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

/**
 * Two digits behind the point; three that matter from 10 on, and two below 0.01.
 *
 * @param {number} value
 * @return {string}
 */
const two = exports.two = function (value) {
  if (value >= 10) return exports.short(value)
  return value > 0 && value < 0.01 ? value.toPrecision(2) : value.toFixed(2)
}

/**
 * A ratio, or another small figure, with its spread.
 *
 *    ratio({ median: 0.469, min: 0.45, max: 0.49 }) // '0.47 (0.45–0.49)'
 *
 * @param {{ median: number, min?: number, max?: number }|null|undefined} spread
 * @return {string} `–` where it is missing
 */
exports.ratio = function (spread) {
  if (!Number.isFinite(spread?.median)) return '–'
  const { median, min, max } = spread
  return Number.isFinite(min) ? `${two(median)} (${two(min)}–${two(max)})` : two(median)
}

/**
 * As short as an axis needs it: `2.5k`, `10M`.
 *
 * @param {number} value
 * @return {string}
 */
exports.compact = function (value) {
  const [factor, letter] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([factor]) => Math.abs(value) >= factor) ?? [1, '']
  return `${Number((value / factor).toPrecision(3))}${letter}`
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * @param {string} text
 * @return {string} for an element or a quoted attribute of HTML
 */
exports.escape = text => String(text).replace(/[&<>"]/g, char => ENTITIES[char])

const number = value => String(Math.round(value * 100) / 100)
const thousands = n => n < 1000 ? String(n) : `${Math.round(n / 1000)}k`
const shortened = text => text.length > 200 ? `${text.slice(0, 200)}…` : text.trim()
