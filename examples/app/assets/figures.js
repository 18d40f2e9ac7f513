/* How figures are written and drawn: the server draws the first picture, the browser the next ones. */
'use strict'

const figures = {
  /** One sample per second, the newest at the right edge. */
  width: 59,
  height: 100,

  kinds: {
    rate: { least: 10, text: (value, lang) => figures.number(value, lang) },
    cpu: {
      least: 100,
      text: (µs, lang) => µs < 1000 ? `${figures.number(µs, lang)} µs` : `${figures.number(µs / 1000, lang, 1)} ms`
    },
    delay: { least: 5, text: (ms, lang) => `${figures.number(ms, lang, 1)} ms` }
  },

  /** 1234.5 → '1,235', and '–' for what is not known yet. */
  text (kind, value, lang) {
    return value === null || value === undefined ? '–' : figures.kinds[kind].text(value, lang)
  },

  number (value, lang, digits = 0) {
    return new Intl.NumberFormat(lang, { maximumFractionDigits: digits }).format(value)
  },

  /** 0.99 → '99%' */
  percent (share, lang) {
    return new Intl.NumberFormat(lang, { style: 'percent' }).format(share)
  },

  /** The end of the scale: 1, 2 or 5 times a power of ten, and at least what this kind has. */
  top (kind, samples) {
    const largest = Math.max(figures.kinds[kind].least, ...samples.map(sample => sample[kind] ?? 0))
    const power = 10 ** Math.floor(Math.log10(largest))
    return [1, 2, 5, 10].map(step => step * power).find(step => step >= largest)
  },

  /** The line as the `d` of a path; it has a gap where a sample has no value. */
  line (kind, samples) {
    return figures.runs(kind, samples).map(run => `M${run.length > 1 ? run.join('L') : `${run[0]}h.01`}`).join('')
  },

  /** The area under it. */
  area (kind, samples) {
    const { height } = figures
    return figures.runs(kind, samples).map(run => {
      const [first, last] = [run[0], run.at(-1)].map(point => point.split(' ')[0])
      return `M${first} ${height}L${run.join('L')}L${last} ${height}Z`
    }).join('')
  },

  /** Points 'x y' of neighbours that have a value. */
  runs (kind, samples) {
    const top = figures.top(kind, samples)
    const runs = [[]]
    samples.forEach((sample, i) => {
      const value = sample[kind]
      if (value === null) return runs.push([])
      const x = figures.width - (samples.length - 1 - i)
      const y = figures.height * (1 - value / top)
      runs.at(-1).push(`${x} ${Number(y.toFixed(2))}`)
    })
    return runs.filter(run => run.length > 0)
  }
}

if (typeof module === 'object') module.exports = figures
