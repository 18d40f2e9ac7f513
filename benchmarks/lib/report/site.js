'use strict'

const path = require('node:path')
const { frame, page, section } = require('./html')
const { save } = require('../run/result')
const { pairedRatio } = require('../run/stats')
const { escape, short } = require('./text')
const { checked, losses, missed } = require('./claims')
const { viewOf } = require('./view')

/**
 * Write the pages of the report.
 *
 * @param {object} results by name: NAME.html each
 * @param {string} folder
 * @return {string[]} the files, the index first
 */
exports.write = function (results, folder) {
  const names = Object.keys(results)
  return [
    save(path.join(folder, 'index.html'), index(results)),
    ...names.map(name => save(path.join(folder, `${name}.html`), page(results[name], { ...viewOf(results[name]), up: 'index.html' })))
  ]
}

/**
 * The page that opens with what kone claims, the row that supports each claim, and what is lost.
 *
 * @param {object} results by name
 * @return {string} HTML
 */
const index = exports.index = function (results) {
  const claims = checked(results)
  const held = claims.filter(({ verdict }) => verdict !== 'not measured')
  const good = held.filter(({ verdict }) => verdict !== 'not supported')
  const summary = `Of ${claims.length} claims the results on this page support ${good.length} and speak against ` +
    `${held.length - good.length}; ${claims.length - held.length} were not measured. A figure is the median of the ` +
    'rounds’ own ratios, in parentheses the lowest and the highest round; below 1 kone costs less.'
  return frame('kone: what it claims, and what was measured', [
    section({ heading: 'Claims, and the rows behind them', text: summary, html: list(claims.map(claimItem)) }),
    section({
      heading: 'What is lost',
      text: 'Rows in which kone costs more than somebody else in the same run, and targets of a lab that were missed.',
      html: list(Object.entries(results).flatMap(lossItems)) || '<p>Nothing in these results.</p>'
    }),
    section({ heading: 'All results', html: list(Object.entries(results).map(labItem)) || '<p>None yet: <code>make battle</code></p>' }),
    battleChart(results.battle)
  ].filter(Boolean).join('\n'))
}

/**
 * A text whose `<!-- NAME -->` … `<!-- /NAME -->` hold the tables of that result.
 *
 *    fill('<!-- battle -->\n<!-- /battle -->\n', { battle })
 *
 * @param {string} text markdown
 * @param {object} results by name
 * @return {string}
 * @throws {Error} no such mark in the text
 */
exports.fill = function (text, results) {
  const marked = Object.keys(results).filter(name => text.includes(`<!-- ${name} -->`))
  if (!marked.length) throw new Error('no <!-- NAME --> of a result is in the text')
  for (const name of marked) {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const begin = text.indexOf(open) + open.length
    const end = text.indexOf(close, begin)
    if (end < 0) throw new Error(`${close} is missing`)
    text = `${text.slice(0, begin)}\n${markdown(results[name])}\n${text.slice(end)}`
  }
  return text
}

/**
 * A result as markdown: each workload's contenders, cheapest first, and where and how it was measured.
 *
 * @param {object} result
 * @return {string}
 */
const markdown = exports.markdown = function ({ date, node, command, machine, contenders, rows, rejected, derived = {} }) {
  const workloads = [...new Set(rows.map(({ workload }) => workload))]
  const versions = Object.fromEntries(contenders.map(({ name, version }) => [name, version]))
  const tables = workloads.map(workload => {
    const cpu = rows.filter(row => row.workload === workload && row.metric === 'cpu').sort((a, b) => a.median - b.median)
    if (!cpu.length) return null
    const { generator, connections } = cpu[0]
    const references = ['node', 'koa'].map(name => cpu.find(row => row.contender === name)).filter(Boolean)
    const cells = [
      [`${workload}${generator ? ` (${generator}, ${connections} connections)` : ''}`, 'requests/s', 'CPU µs/request', 'lowest–highest',
        ...references.map(({ contender }) => `CPU ÷ ${contender}`)],
      ['---', ...Array(3 + references.length).fill('--:')],
      ...cpu.map(row => [
        `${row.contender} ${versions[row.contender]}`,
        row.requestsPerSecond ? Math.round(row.requestsPerSecond).toLocaleString('en') : '–',
        short(row.median),
        `${short(row.min)}–${short(row.max)}`,
        ...references.map(reference => reference === row ? '1' : pairedRatio(row.rounds, reference.rounds).median.toFixed(2))
      ])
    ]
    return cells.map(row => `| ${row.join(' | ')} |`).join('\n')
  })
  const out = rejected.map(({ workload, contender, reason }) => `${contender} was rejected in ${workload}: ${reason}.`)
  const where = `Node ${node}, ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, ${date.slice(0, 10)}, ` +
    `${derived.rounds ?? rows[0].rounds.length} rounds${derived.quick ? ' (quick: a first look, not a result)' : ''}: \`${command}\`.`
  return [...tables.filter(Boolean), ...out, where].join('\n\n')
}

const MARKS = { supported: 'yes', 'by the median': 'yes', 'not supported': 'no', 'not measured': 'open' }

function claimItem ({ says, lab, workload, metric, contender, to, atMost, verdict, spread, row, reference }) {
  const what = `${lab}, ${workload}: ${metric} of ${contender} ÷ ${to === 'others' ? 'the cheapest other framework' : to}`
  const head = `<strong class="${MARKS[verdict]}">${escape(says)}</strong>`
  if (!spread) return `${head}<span>not measured: ${escape(what)}</span>`
  const words = { supported: 'supported', 'by the median': 'supported by the median, not by every round', 'not supported': 'not supported' }
  return `${head}${escape(figure(spread))}, claimed ≤ ${atMost}: ${words[verdict]}<br>
<span>by <a href="${escape(lab)}.html">${escape(lab)}</a>, ${escape(`${workload}: ${pair(row, reference)}`)}</span>`
}

function lossItems ([name, result]) {
  const link = `<a href="${escape(name)}.html">${escape(name)}</a>`
  return [
    ...losses(result).map(({ workload, row, other, spread }) =>
      `<strong class="no">${escape(`${workload}: ${other.contender} costs less`)}</strong>${escape(figure(spread))}` +
      `${spread.min <= 1 ? ', within the spread' : ''}<br><span>${link}: ${escape(pair(row, other))}</span>`),
    ...missed(result).map(({ what, target, median, min, max }) =>
      `<strong class="no">${escape(`target missed: ${what}`)}</strong>` +
      `${escape(figure({ median, min, max }))}, aimed at ≤ ${target}<br><span>${link}</span>`)
  ]
}

function labItem ([name, result]) {
  const { date, node, machine, command, contenders, derived: { quick, rounds } = {} } = result
  return `<strong><a href="${escape(name)}.html">${escape(name)}</a></strong>${escape(viewOf(result).title)}<br>
<span>${escape(`${date.slice(0, 10)}, Node ${node}, ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, ` +
    `${rounds ?? '?'} rounds${quick ? ' (quick: a first look, not a result)' : ''}, ${contenders.length} contenders`)}<br>
<code>${escape(command)}</code></span>`
}

function battleChart (battle) {
  const rows = battle?.rows.filter(({ workload, metric }) => workload === 'hello' && metric === 'cpu') ?? []
  if (!rows.length) return null
  return section({
    heading: 'Hello world behind five middleware',
    chart: {
      rows: rows.sort((a, b) => a.median - b.median),
      caption: 'server CPU per request, µs: shorter is better; bars are medians, whiskers the fastest and slowest round'
    }
  })
}

const pair = (row, other) => `${row.contender} ${short(row.median)} ${row.unit}, ${other.contender} ${short(other.median)}`
const two = value => value >= 10 ? short(value) : value.toFixed(2)
const figure = ({ median, min, max }) => Number.isFinite(min) ? `${two(median)} (${two(min)}–${two(max)})` : two(median)
const list = items => items.length ? `<ul class="claims">${items.map(item => `<li>${item}</li>`).join('\n')}</ul>` : ''
