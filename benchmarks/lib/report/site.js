'use strict'

const path = require('node:path')
const { frame, page, section } = require('./html')
const { judged, nameOf, rowsOf, save } = require('../run/result')
const { newest } = require('./committed')
const { escape, ratio, short } = require('./text')
const { checked, losses, missed } = require('./claims')
const { viewOf } = require('./view')

/**
 * Write the HTML pages of the report: the newest result of each lab on each version of Node, LAB.nodeMAJOR.html.
 *
 * @param {object[]} results
 * @param {string} folder
 * @return {string[]} the files, the index first
 */
exports.write = function (results, folder) {
  return [
    save(path.join(folder, 'index.html'), index(results)),
    ...shown(results).map(result =>
      save(path.join(folder, `${nameOf(result)}.html`), page(result, { ...viewOf(result), parent: 'index.html' })))
  ]
}

const shown = results => [...newest(results).values()].flat().map(({ result }) => result)

/**
 * The page that opens with what kone claims, the row that supports each claim, and what is lost.
 *
 * @param {object[]} results
 * @return {string} HTML
 */
const index = exports.index = function (results) {
  const all = shown(results)
  const claims = checked(results)
  const held = claims.filter(({ verdict }) => verdict !== 'not measured')
  const good = held.filter(({ verdict }) => verdict === 'supported')
  const summary = `Of ${claims.length} claims the results on this page support ${good.length} in every round and ` +
    `${held.length - good.length} not; ${claims.length - held.length} were not measured. A figure is the median of the ` +
    'rounds’ own ratios, in parentheses the lowest and the highest round; below 1 kone costs less.'
  return frame('kone: what it claims, and what was measured', [
    section({ heading: 'Claims, and the rows behind them', text: summary, html: list(claims.map(claimItem)) }),
    section({
      heading: 'What is lost',
      text: 'Rows in which kone costs more than somebody else in the same run, and targets of a lab that were missed.',
      html: list(all.flatMap(lossItems)) || '<p>Nothing in these results.</p>'
    }),
    section({ heading: 'All results', html: list(all.map(labItem)) || '<p>None yet: <code>make battle</code></p>' }),
    battleChart(all.find(({ lab }) => lab === 'battle'))
  ].filter(Boolean).join('\n'))
}

const MARKS = { supported: 'yes', 'by the median': 'no', 'not supported': 'no', 'not measured': 'open' }

function claimItem ({ says, on, lab, workload, metric = 'cpu', contender, to, atMost, verdict, spread, row, reference }) {
  const what = `${lab}, ${workload}: ${metric} of ${contender} ÷ ${to === 'others' ? 'the cheapest other framework' : to}`
  const head = `<strong class="${MARKS[verdict]}">${escape(`${says}: at most ${atMost} on Node ${on}`)}</strong>`
  if (!spread) return `${head}<span>not measured: ${escape(what)}</span>`
  const words = { supported: 'supported', 'by the median': 'supported by the median, not by every round', 'not supported': 'not supported' }
  return `${head}${escape(ratio(spread))}: ${words[verdict]}<br>
<span>by <a href="${escape(lab)}.node${on}.html">${escape(lab)}</a>, ${escape(`${row.workload}: ${pair(row, reference)}`)}</span>`
}

function lossItems (result) {
  const link = linkTo(result)
  return [
    ...losses(result).map(({ workload, row, other, spread }) =>
      `<strong class="no">${escape(`${workload}: ${other.contender} costs less`)}</strong>${escape(ratio(spread))}` +
      `${spread.min <= 1 ? ', within the spread' : ''}<br><span>${link}: ${escape(pair(row, other))}</span>`),
    ...missed(result).map(({ what, target, median, min, max }) =>
      `<strong class="no">${escape(`target missed: ${what}`)}</strong>` +
      `${escape(ratio({ median, min, max }))}, aimed at ≤ ${target}<br><span>${link}</span>`)
  ]
}

function linkTo (result) {
  return `<a href="${escape(nameOf(result))}.html">${escape(result.lab)}, Node ${parseInt(result.node.slice(1))}</a>`
}

function labItem (result) {
  const { date, node, machine, command, contenders, derived: { quick, rounds } = {} } = result
  return `<strong>${linkTo(result)}</strong>${escape(viewOf(result).title)}<br>
<span>${escape(`${date.slice(0, 10)}, Node ${node}, ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, ` +
    `${rounds ?? '?'} rounds${quick ? ' (quick: a first look, not a result)' : ''}, ${contenders.length} contenders`)}<br>
<code>${escape(command)}</code></span>`
}

function battleChart (battle) {
  const rows = battle ? rowsOf(battle, judged(battle, 'hello')) : []
  if (!rows.length) return null
  return section({
    heading: 'Hello world behind five middleware',
    chart: {
      rows,
      caption: `${rows[0].generator ? `${rows[0].generator}: ` : ''}server CPU per request, µs: shorter is better; bars are medians, whiskers the fastest and slowest round`
    }
  })
}

const pair = (row, other) => `${row.contender} ${short(row.median)} ${row.unit}, ${other.contender} ${short(other.median)}`
const list = items => items.length ? `<ul class="claims">${items.map(item => `<li>${item}</li>`).join('\n')}</ul>` : ''
