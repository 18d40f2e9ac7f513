'use strict'

const { scaleLinear, scaleLog } = require('d3-scale')
const { compact, escape, short } = require('./text')

const TICKS = 5

/**
 * Horizontal bars with whiskers. Lengths are shares of the width and text keeps its size, so the same chart
 * reads on a phone and on a wide screen.
 *
 * @param {object[]} rows of a result, in the order to show
 * @param {string} caption
 * @param {string[]} [labels] of the bars, instead of their contenders
 * @return {string} SVG in a figure
 */
exports.bars = function (rows, caption, labels = rows.map(({ contender }) => contender)) {
  const HEIGHT = 44
  const end = Math.max(...rows.map(row => row.max))
  const share = value => `${(value / end * 100).toFixed(2)}%`
  const bar = ({ contender, median, min, max, unit }, i) => {
    const y = i * HEIGHT
    const kind = contender.startsWith('kone') ? 'ours' : 'theirs'
    return `<g class="${kind}">
<text x="0" y="${y + 14}">${escape(labels[i])}</text>
<text x="100%" y="${y + 14}" text-anchor="end">${short(median)}</text>
<rect x="0" y="${y + 20}" width="${share(median)}" height="14" rx="2"/>
<line x1="${share(min)}" x2="${share(max)}" y1="${y + 27}" y2="${y + 27}"/>
<line x1="${share(min)}" x2="${share(min)}" y1="${y + 23}" y2="${y + 31}"/>
<line x1="${share(max)}" x2="${share(max)}" y1="${y + 23}" y2="${y + 31}"/>
<title>${escape(`${labels[i]}: ${short(median)} ${unit}, ${short(min)} to ${short(max)}`)}</title>
</g>`
  }
  return `<figure>
<svg role="img" aria-label="${escape(caption)}" width="100%" height="${rows.length * HEIGHT}">
${rows.map(bar).join('\n')}
</svg>
<figcaption>${escape(caption)}</figcaption>
</figure>`
}

/**
 * Lines through medians, with error bars from the lowest to the highest round.
 *
 *    lines({
 *      caption: 'µs per request by number of routes',
 *      x: { label: 'routes', log: true }, // or { label, names: ['0.8', '0.10'] }: a point's x is the index of its name
 *      series: [{ name: 'kone', points: [{ x: 1, row }, { x: 10, row }] }]
 *    })
 *
 * @param {{ caption: string, x: { label: string, log?: boolean, names?: string[] },
 *   y?: { label?: string, log?: boolean }, series: object[] }} chart points hold rows of a result
 * @return {string} SVG in a figure
 */
exports.lines = function ({ caption, x, y = {}, series }) {
  const HEIGHT = 280
  const LEFT = 13 // % of the width that the labels of the y axis take
  const points = series.flatMap(({ points }) => points)
  const xs = scale(points.map(point => point.x), x)
  const ys = scale(points.flatMap(({ row }) => [row.min, row.max]), { ...y, zero: true })
  const px = value => `${(LEFT + xs.share(value) * (97 - LEFT)).toFixed(2)}%`
  const py = value => (HEIGHT - 28 - ys.share(value) * (HEIGHT - 44)).toFixed(1)

  const grid = ys.ticks.map(value => `<line class="grid" x1="${LEFT - 2}%" x2="100%" y1="${py(value)}" y2="${py(value)}"/>
<text class="tick" x="0" y="${Number(py(value)) + 4}">${compact(value)}</text>`)
  const below = (x.names ? x.names.map((name, i) => [i, name]) : xs.ticks.map(value => [value, compact(value)]))
    .map(([value, name]) => `<text class="tick" x="${px(value)}" y="${HEIGHT - 8}" text-anchor="middle">${escape(name)}</text>`)

  return `<figure>
<svg class="lines" role="img" aria-label="${escape(caption)}" width="100%" height="${HEIGHT}">
${[...grid, ...below].join('\n')}
${series.map(({ name, points }) => line(name, points)).join('\n')}
</svg>
<ul class="legend">${series.map(({ name }) => `<li class="${look(name)}">${escape(name)}</li>`).join('')}</ul>
<figcaption>${escape(`${caption}; across: ${x.label}`)}</figcaption>
</figure>`

  // kone has its color in every chart; five are for the others, then they come again, dashed
  function look (name) {
    if (name === 'kone') return 'series s0'
    const i = series.filter(one => one.name !== 'kone').findIndex(one => one.name === name)
    return `series s${1 + i % 5}${i < 5 ? '' : ' dashed'}`
  }

  function line (name, points) {
    const sorted = [...points].sort((a, b) => a.x - b.x)
    const parts = sorted.slice(1).map((point, j) => segment(sorted[j], point))
    return `<g class="${look(name)}">\n${[...parts, ...sorted.map(point => dot(name, point))].join('\n')}\n</g>`
  }

  function segment (from, to) {
    return `<line x1="${px(from.x)}" y1="${py(from.row.median)}" x2="${px(to.x)}" y2="${py(to.row.median)}"/>`
  }

  function dot (name, { x: at, row: { median, min, max, unit } }) {
    const where = x.names ? x.names[at] : `${compact(at)} ${x.label}`
    return `<g><line class="error" x1="${px(at)}" x2="${px(at)}" y1="${py(min)}" y2="${py(max)}"/>
<circle cx="${px(at)}" cy="${py(median)}" r="3.5"/>
<title>${escape(`${name}, ${where}: ${short(median)} ${unit}, ${short(min)} to ${short(max)}`)}</title></g>`
  }
}

/**
 * Where values lie on an axis, and the round values to print beside it.
 *
 * @param {number[]} values
 * @param {{ log?: boolean, zero?: boolean, names?: string[] }} axis zero: it begins there, unless logarithmic
 * @return {{ share: (value: number) => number, ticks: number[] }} share: 0…1
 */
const scale = exports.scale = function (values, { log, zero, names }) {
  if (names) return { share: value => (value + 0.5) / names.length, ticks: [] }
  const low = Math.min(...values)
  const high = Math.max(...values)
  const share = (log ? scaleLog : scaleLinear)([zero && !log ? Math.min(0, low) : low, high], [0, 1]).nice(TICKS)
  if (low === high && !zero) return { share: () => 0, ticks: [low] }
  const ticks = share.ticks(TICKS)
  // of a logarithmic axis a phone shows the powers of ten
  return { share, ticks: log ? ticks.filter(value => share.tickFormat(TICKS, String)(value)) : ticks }
}
