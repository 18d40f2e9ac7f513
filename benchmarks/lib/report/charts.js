'use strict'

const { compact, escape, short } = require('./text')

/*
 * Charts as files: SVGs that need no script and no font, each in a light and a dark version for <picture>. A chart
 * paints its own background, so that it can be read where the page's colours are not those of the system.
 */

const WIDTH = 760
const LINE = 18 // of a title
const TOP = 66 // of the plot; the title and the subtitle are above it
const FONT = '-apple-system, BlinkMacSystemFont, \'Segoe UI\', \'Noto Sans\', Helvetica, Arial, sans-serif'

// Text has a contrast of 4.5:1 to the paper at least, bars and lines of 3:1.
exports.THEMES = {
  light: { paper: '#ffffff', ink: '#1f2328', dim: '#59636e', grid: '#dfe4ea', kone: '#0969da', other: '#818b98' },
  dark: { paper: '#0d1117', ink: '#f0f6fc', dim: '#9198a1', grid: '#2a313a', kone: '#4493f8', other: '#768390' }
}

/**
 * A chart of medians with error bars from the lowest to the highest round.
 *
 *    draw({ title: 'kone takes 0.56 of Koa’s time', unit: 'µs', n: 8, bars: [{ label: 'kone', median: 10, min: 9, max: 11 }] })
 *
 * @param {object} chart
 * @param {string} chart.title the finding
 * @param {string} chart.unit with what it is of: 'server CPU per request, µs'
 * @param {number} [chart.n] rounds behind every median
 * @param {string} [chart.of] the Node, the commit and the day of the result
 * @param {(value: number) => string} [chart.show] a figure of a bar
 * @param {object[]} chart.bars `{ label, median, min, max }`, in the order to show; those of kone begin with its name,
 *   or have `isOurs`
 * @param {{ value: number, label: string }} [chart.mark] a line across the bars: the raw socket, or 1 for ratios
 * @return {{ light: string, dark: string }} two SVG documents
 */
exports.draw = function (chart) {
  const themes = Object.entries(exports.THEMES)
  return Object.fromEntries(themes.map(([name, theme]) => [name, drawBars(chart, theme)]))
}

function drawBars ({ bars, mark, unit, show = short, ...chart }, theme) {
  const ROW = 30
  const top = mark ? TOP + 18 : TOP
  const left = 24 + Math.max(60, ...bars.map(({ label }) => textWidth(label, 13, true)))
  const bottom = top + bars.length * ROW
  const ticks = ticksOf(Math.max(...bars.map(({ max }) => max), mark?.value ?? 0))
  const x = value => left + value / ticks.at(-1) * (WIDTH - 120 - left)

  const grid = ticks.map(value => [
    path(`M${at(x(value))} ${top}V${bottom}`, theme.grid),
    small(x(value), bottom + 18, compact(value), theme, { anchor: 'middle' })
  ])
  const marked = mark && [
    path(`M${at(x(mark.value))} ${top - 4}V${bottom}`, theme.ink, 1.25, '4 3'),
    small(x(mark.value), top - 9, mark.label, theme, { anchor: x(mark.value) < left + 100 ? 'start' : 'middle' })
  ]
  const bar = ({ label, median, min, max, isOurs = label === 'kone' }, i) => {
    const y = top + i * ROW
    const middle = y + ROW / 2
    const [from, to] = [at(x(min)), at(x(max))]
    const how = { size: 13, fill: theme.ink, bold: label === 'kone' }
    return [
      text(left - 10, middle + 4.5, label, { ...how, anchor: 'end' }),
      `<rect x="${at(left)}" y="${y + 6}" width="${at(Math.max(1, x(median) - left))}" height="${ROW - 12}" rx="2" ` +
        `fill="${isOurs ? theme.kone : theme.other}"/>`,
      path(`M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8`, theme.ink, 1.25),
      text(x(max) + 9, middle + 4.5, show(median), { ...how, halo: theme.paper })
    ]
  }
  const data = bars.map(({ label, median, min, max }) => `${label} ${show(median)} (${show(min)} to ${show(max)})`)
  return frame({ ...chart, unit, about: data.join('; '), height: bottom + 34, theme }, [grid, marked, bars.map(bar)])
}

/** Some six values from 0 to `max` or above. Their step is 1, 2 or 5 times a power of ten, the nearest to a sixth. */
function ticksOf (max) {
  const sixth = Math.log10(max / 6 || 1)
  const power = Math.floor(sixth)
  const far = digit => Math.abs(Math.log10(digit) + power - sixth)
  const digit = [1, 2, 5, 10].reduce((best, digit) => far(digit) < far(best) ? digit : best)
  const tick = i => power < 0 ? i * digit / 10 ** -power : i * digit * 10 ** power // 3 * 0.1 is not 0.3
  return Array.from({ length: Math.ceil(max / tick(1)) + 1 }, (_, i) => tick(i))
}

function frame ({ title, unit, n, of, about, height, theme }, content) {
  const subtitle = [unit, n && `medians of n = ${n} rounds, error bars: lowest and highest round`, of].filter(Boolean).join('; ')
  const titles = wrapped(title, 15)
  const subtitles = wrapped(subtitle, 12.5)
  const down = (titles.length + subtitles.length - 2) * LINE // the plot is moved by what the titles take
  height += down
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" ` +
`aria-labelledby="title desc" font-family="${escape(FONT)}">
<title id="title">${escape(title)}</title>
<desc id="desc">${escape(`${subtitle}. ${about}.`)}</desc>
<rect width="${WIDTH}" height="${height}" rx="8" fill="${theme.paper}"/>
${titles.map((line, i) => text(24, 28 + i * LINE, line, { size: 15, fill: theme.ink, bold: true })).join('\n')}
${subtitles.map((line, i) => text(24, 47 + (titles.length - 1 + i) * LINE, line, { size: 12.5, fill: theme.dim })).join('\n')}
<g${down ? ` transform="translate(0 ${down})"` : ''}>
${content.flat(Infinity).filter(Boolean).join('\n')}
</g>
</svg>
`
}

// A title in as many lines as it needs: no letter is outside of the picture.
function wrapped (content, size) {
  return content.split(' ').reduce(([...lines], word) => {
    const longer = [lines.pop(), word].filter(Boolean).join(' ')
    if (textWidth(longer, size) <= WIDTH - 48 || longer === word) return [...lines, longer]
    return [...lines, longer.slice(0, -word.length - 1), word]
  }, [])
}

// halo: the colour around the letters where they can cover a line
function text (x, y, content, { size, fill, anchor, bold, halo }) {
  const around = halo ? ` stroke="${halo}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"` : ''
  const more = `${anchor ? ` text-anchor="${anchor}"` : ''}${bold ? ' font-weight="600"' : ''}${around}`
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" fill="${fill}"${more}>${escape(content)}</text>`
}

// Beside the plot.
const small = (x, y, content, theme, how) => text(x, y, content, { size: 12, fill: theme.dim, ...how })

const path = (d, stroke, width = 1, dash = '') =>
  `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${width}"${dash && ` stroke-dasharray="${dash}"`}/>`

const at = value => Number(value.toFixed(1))

// Fonts are not known here: a letter of a sans serif is about 0.56 of its size wide.
const textWidth = (content, size, isBold = false) => [...content].length * size * (isBold ? 0.62 : 0.56)
