'use strict'

const { scaleLinear, scaleLog, scalePoint } = require('d3-scale')
const { area, line } = require('d3-shape')
const { compact, escape, short } = require('./text')

/*
 * Charts as files: SVGs that need no script and no font, each in a light and a dark version for <picture>. A chart
 * paints its own background, so that it can be read where the page's colours are not those of the system.
 */

const WIDTH = 760
const FONT = '-apple-system, BlinkMacSystemFont, \'Segoe UI\', \'Noto Sans\', Helvetica, Arial, sans-serif'

// Text has a contrast of 4.5:1 to the paper at least, bars and lines of 3:1: test/benchmarks/report.svg.test.js.
const THEMES = exports.THEMES = {
  light: {
    paper: '#ffffff',
    ink: '#1f2328',
    dim: '#59636e',
    grid: '#dfe4ea',
    ours: '#0969da',
    oursToo: '#4a8fe0',
    theirs: '#818b98',
    series: ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#bf3989', '#6a737d', '#9a6700', '#0a7b83']
  },
  dark: {
    paper: '#0d1117',
    ink: '#f0f6fc',
    dim: '#9198a1',
    grid: '#2a313a',
    ours: '#4493f8',
    oursToo: '#2f6fc4',
    theirs: '#768390',
    series: ['#4493f8', '#f0883e', '#3fb950', '#a371f7', '#db61a2', '#9198a1', '#d29922', '#39c5cf']
  }
}

/**
 * Horizontal bars with whiskers from the lowest to the highest round.
 *
 *    bars({
 *      title: 'Hello world behind five middleware',
 *      subtitle: 'server CPU per request, µs; shorter is better',
 *      unit: 'µs',
 *      rows: [{ label: 'kone', median: 10, min: 9, max: 11, kind: 'ours' }],
 *      mark: { value: 1, label: 'koa' } // a vertical line, for ratios
 *    })
 *
 * @param {{ title: string, subtitle: string, unit: string, rows: object[], mark?: object, digits?: number }} chart
 *   kind: 'ours', 'ours too' or 'theirs'; digits: after the point, instead of three that matter
 * @return {{ light: string, dark: string }} two SVG documents
 */
exports.bars = chart => themed(chart, drawBars)

/**
 * Lines through medians in bands from the lowest to the highest round, each named at its end.
 *
 *    lines({
 *      title: 'Requests per second by connections',
 *      subtitle: 'higher is better',
 *      unit: 'requests/s',
 *      x: { label: 'connections', log: true }, // or { label, names: ['0.8', '0.10'] }: x is the index of a name
 *      y: { log: true },
 *      series: [{ name: 'kone', points: [{ x: 1, median: 3, min: 2, max: 4 }] }]
 *    })
 *
 * @param {{ title: string, subtitle: string, unit: string, x: object, y?: object, series: object[] }} chart
 * @return {{ light: string, dark: string }} two SVG documents
 */
exports.lines = chart => themed(chart, drawLines)

function themed (chart, draw) {
  const themes = Object.entries(THEMES).map(([name, theme]) => [name, draw(chart, theme)])
  return Object.fromEntries(themes)
}

const TOP = 64 // of the plot; the title and the subtitle are above it

function drawBars ({ title, subtitle, unit, rows, mark, digits }, theme) {
  const ROW = 30
  const top = mark ? TOP + 18 : TOP
  const left = 24 + Math.max(60, ...rows.map(({ label, kind }) => textWidth(label, 13, kind === 'ours')))
  const right = WIDTH - 120
  const bottom = top + rows.length * ROW
  const most = Math.max(...rows.map(({ max }) => max), mark?.value ?? 0)
  const x = scaleLinear([0, most], [left, right]).nice(6)
  const show = value => digits === undefined ? short(value) : value.toFixed(digits)

  const stands = rows.some(({ kind }) => kind !== 'ours') // where all are kone's, none is bold
  const grid = x.ticks(6).map(value => [
    `<line x1="${at(x(value))}" x2="${at(x(value))}" y1="${top}" y2="${bottom}" stroke="${theme.grid}"/>`,
    text(x(value), bottom + 18, compact(value), { size: 12, fill: theme.dim, anchor: 'middle' })
  ])
  const bar = ({ label, median, min, max, kind }, i) => {
    const y = top + i * ROW
    const middle = y + ROW / 2
    const fill = { ours: theme.ours, 'ours too': theme.oursToo }[kind] ?? theme.theirs
    const isOurs = stands && kind === 'ours'
    const whisker = [
      `M${at(x(min))} ${middle}H${at(x(max))}`, `M${at(x(min))} ${middle - 4}v8`, `M${at(x(max))} ${middle - 4}v8`
    ].join('')
    return [
      text(left - 10, middle + 4.5, label, { size: 13, fill: theme.ink, anchor: 'end', bold: isOurs }),
      `<rect x="${at(left)}" y="${y + 6}" width="${at(Math.max(1, x(median) - left))}" height="${ROW - 12}" rx="2" fill="${fill}"/>`,
      `<path d="${whisker}" stroke="${theme.ink}" stroke-width="1.25" fill="none"/>`,
      text(x(max) + 9, middle + 4.5, show(median), { size: 13, fill: theme.ink, bold: isOurs, halo: theme.paper })
    ]
  }
  const line = mark && [
    `<path d="M${at(x(mark.value))} ${top - 4}V${bottom}" stroke="${theme.ink}" stroke-width="1.25" stroke-dasharray="4 3"/>`,
    text(x(mark.value), top - 9, mark.label, { size: 12, fill: theme.dim, anchor: 'middle' })
  ]
  const data = rows.map(({ label, median, min, max }) => `${label} ${show(median)} (${show(min)} to ${show(max)})`)
  return frame({ title, subtitle, about: `${unit}: ${data.join('; ')}`, height: bottom + 34, theme },
    [grid, line, rows.map(bar)])
}

function drawLines ({ title, subtitle, unit, x: across, y: upward = {}, series }, theme) {
  const HEIGHT = 420
  const bottom = HEIGHT - 52
  const left = 64
  const names = series.map(({ name }) => name)
  const right = WIDTH - 28 - Math.max(...names.map(name => textWidth(name, 13)))
  const points = series.flatMap(({ points }) => points)
  const extent = values => [Math.min(...values), Math.max(...values)]
  const y = upward.log
    ? scaleLog(extent(points.flatMap(({ min, max }) => [min, max])), [bottom, TOP]).nice()
    : scaleLinear([0, Math.max(...points.map(({ max }) => max))], [bottom, TOP]).nice(5)
  const x = across.names
    ? scalePoint(across.names.map((_, i) => i), [left + 16, right - 8])
    : (across.log ? scaleLog : scaleLinear)(extent(points.map(({ x }) => x)), [left + 16, right - 8])

  const rows = ticks(y, 5).map(([value, label]) => [
    `<line x1="${left}" x2="${at(right)}" y1="${at(y(value))}" y2="${at(y(value))}" stroke="${theme.grid}"/>`,
    text(left - 8, y(value) + 4, label, { size: 12, fill: theme.dim, anchor: 'end' })
  ])
  const below = across.names ? across.names.map((name, i) => [i, name]) : ticks(x, 6)
  const columns = below.map(([value, label]) =>
    text(x(value), bottom + 20, label, { size: 12, fill: theme.dim, anchor: 'middle' }))
  columns.push(text((left + right) / 2, bottom + 40, across.label, { size: 12, fill: theme.dim, anchor: 'middle' }))

  const band = area().x(point => at(x(point.x))).y0(point => at(y(point.min))).y1(point => at(y(point.max)))
  const path = line().x(point => at(x(point.x))).y(point => at(y(point.median)))
  const colors = colorsOf(names, theme)
  const sorted = series.map(({ name, points }) => ({ name, points: [...points].sort((a, b) => a.x - b.x) }))
  const ends = apart(sorted.map(({ points }) => y(points.at(-1).median)), 16, [TOP + 4, bottom])
  const drawn = sorted.map(({ name, points }, i) => {
    const { color, dash } = colors.get(name)
    const isOurs = name === 'kone'
    const last = points.at(-1)
    const lead = Math.abs(ends[i] - y(last.median)) > 6 || x(last.x) < right - 20
    return [
      `<path d="${band(points)}" fill="${color}" fill-opacity="0.14"/>`,
      `<path d="${path(points)}" fill="none" stroke="${color}" stroke-width="${isOurs ? 3 : 2}" stroke-linejoin="round"${dash}/>`,
      ...points.map(point => `<circle cx="${at(x(point.x))}" cy="${at(y(point.median))}" r="${isOurs ? 3.5 : 2.75}" fill="${color}"/>`),
      lead && `<path d="M${at(x(last.x) + 5)} ${at(y(last.median))}L${at(right + 4)} ${at(ends[i])}" stroke="${color}" stroke-width="0.75"/>`,
      text(right + 8, ends[i] + 4.5, name, { size: 13, fill: theme.ink, bold: isOurs })
    ]
  })
  const where = value => across.names ? across.names[value] : compact(value)
  const data = sorted.map(({ name, points }) =>
    `${name}: ${points.map(point => `${where(point.x)} ${short(point.median)}`).join(', ')}`)
  return frame({ title, subtitle, about: `${unit} by ${across.label}. ${data.join('; ')}`, height: HEIGHT, theme },
    [rows, columns, drawn])
}

// The values of an axis that get a label. d3 gives a logarithmic one all of 1 to 9: powers of ten are enough where there are
// several, and 1, 2, 5 else.
function ticks (scale, count) {
  const all = scale.ticks(count)
  if (!scale.base) return all.map(value => [value, compact(value)])
  const leading = value => Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9))
  const powers = all.filter(value => leading(value) === 1)
  const shown = powers.length > 2 ? powers : all.filter(value => [1, 2, 5].includes(leading(value)))
  return shown.map(value => [value, compact(value)])
}

// A contender has its colour in every chart, as far as there are colours; with more lines than these they come again, dashed.
const KNOWN = ['kone', 'node', 'koa', 'fastify', 'nginx', 'node-cluster', 'go', 'kone-cluster']

function colorsOf (names, { series }) {
  const known = names.filter(name => KNOWN.includes(name))
  const free = series.filter((_, i) => i > 0 && !known.includes(KNOWN[i]))
  const colors = new Map(known.map(name => [name, { color: series[KNOWN.indexOf(name)], dash: '' }]))
  names.filter(name => !KNOWN.includes(name)).forEach((name, i) => {
    const [palette, at] = i < free.length ? [free, i] : [series.slice(1), (i - free.length) % (series.length - 1)]
    colors.set(name, { color: palette[at], dash: i < free.length ? '' : ' stroke-dasharray="6 4"' })
  })
  return colors
}

// Where labels are written that would lie on each other: moved down until they are `gap` apart, then up into the plot.
function apart (wanted, gap, [top, bottom]) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b])
  const placed = [...wanted]
  let last = top - gap
  for (const i of order) last = placed[i] = Math.max(placed[i], last + gap)
  let next = bottom + gap
  for (const i of order.reverse()) next = placed[i] = Math.min(placed[i], next - gap)
  return placed
}

function frame ({ title, subtitle, about, height, theme }, content) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" ` +
`aria-labelledby="title desc" font-family="${escape(FONT)}">
<title id="title">${escape(title)}</title>
<desc id="desc">${escape(`${subtitle.replace(/\.$/, '')}. ${about}.`)}</desc>
<rect width="${WIDTH}" height="${height}" rx="8" fill="${theme.paper}"/>
${text(24, 28, title, { size: 16, fill: theme.ink, bold: true })}
${text(24, 47, subtitle, { size: 12.5, fill: theme.dim })}
${content.flat(Infinity).filter(Boolean).join('\n')}
</svg>
`
}

// halo: the colour around the letters where they can lie on a line
function text (x, y, content, { size, fill, anchor, bold, halo }) {
  const around = halo ? ` stroke="${halo}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"` : ''
  const more = `${anchor ? ` text-anchor="${anchor}"` : ''}${bold ? ' font-weight="600"' : ''}${around}`
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" fill="${fill}"${more}>${escape(content)}</text>`
}

const at = value => Number(value.toFixed(1))

// Fonts are not known here: a letter of a sans serif is about 0.56 of its size wide.
const textWidth = (content, size, isBold = false) => [...content].length * size * (isBold ? 0.62 : 0.56)
