'use strict'

const isWord = text => /[a-z]{3}/.test(text)

/**
 * A table for the terminal: columns as wide as their widest cell, numbers to the right.
 *
 *    table([['', 'req/s'], ['kone', '50000']])
 */
exports.table = function ([head, ...lines]) {
  const cells = [head, head.map(() => ''), ...lines].map(row => head.map((_, i) => row[i] ?? ''))
  const widths = head.map((_, i) => Math.max(...cells.map(row => [...row[i]].length)))
  cells[1] = widths.map(width => '-'.repeat(width))
  const isLeft = head.map((_, i) => i === 0 || isWord(cells[2]?.[i] ?? ''))
  const padded = (text, i) => {
    const space = ' '.repeat(widths[i] - [...text].length)
    return isLeft[i] ? text + space : space + text
  }
  return cells.map(row => row.map(padded).join('  ').trimEnd()).join('\n')
}

// A figure and its spread stay on one line in a narrow column: a browser would break behind the dash.
const unbroken = text => text.replace(/(\d) (\([\d.,]+)–/g, '$1\u00a0$2–\u2060').replace(/^([\d.,]+)–(?=\d)/, '$1–\u2060')

/** The same table in markdown. */
exports.markdown = function ([head, ...lines]) {
  const isLeft = head.map((_, i) => i === 0 || lines.some(row => isWord(row[i] ?? '')))
  const line = row => `| ${head.map((_, i) => unbroken(String(row[i] ?? '')).replaceAll('|', '\\|')).join(' | ')} |`.replaceAll('|  |', '| |')
  return [line(head), `| ${isLeft.map(left => left ? ':-' : '-:').join(' | ')} |`, ...lines.map(line)].join('\n')
}

/** Three digits that matter; `–` where there is no figure. */
const short = exports.short = value => !Number.isFinite(value) ? '–' : Math.abs(value) >= 100 ? whole(value) : value.toPrecision(3)

/** With separators: `12,345`. */
const whole = exports.whole = value => Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–'

/** Two digits behind the point; three that matter from 10 on, and two below 0.01. */
const two = exports.two = function (value) {
  if (Math.abs(value) >= 10) return short(value)
  return value > 0 && value < 0.01 ? value.toPrecision(2) : value.toFixed(2).replace('-0.00', '0.00')
}

/**
 * A ratio with its spread.
 *
 *    ratio({ median: 0.469, min: 0.45, max: 0.49 }) // '0.47 (0.45–0.49)'
 */
exports.ratio = spread => spread ? `${two(spread.median)} (${two(spread.min)}–${two(spread.max)})` : '–'

/** As short as an axis needs it: `2.5k`, `10M`. */
exports.compact = function (value) {
  const [factor, letter] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([factor]) => Math.abs(value) >= factor) ?? [1, '']
  return `${Number((value / factor).toPrecision(3))}${letter}`
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** for an element or a quoted attribute of HTML */
exports.escape = text => String(text).replace(/[&<>"]/g, char => ENTITIES[char])

/** What make calls a lab. */
exports.targetOf = lab => lab === 'battle' ? lab : `bench-${lab}`
