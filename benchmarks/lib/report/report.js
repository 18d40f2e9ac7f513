'use strict'

const path = require('node:path')
const { pairedRatio } = require('../run/stats')
const { OUT, nameOf, save, write } = require('../run/result')
const { page } = require('./html')
const { ofRun } = require('./claims')
const { indexed, notes, targetLines } = require('./view')
const text = require('./text')

const { short, table } = text

/**
 * CPU ratios of every contender to the references, per workload, into `derived.ratios`.
 *
 * @param {object} result
 * @param {string[]} references contenders to divide by
 */
exports.addRatios = function ({ rows, derived }, references) {
  const cpu = rows.filter(row => row.metric === 'cpu')
  for (const { workload, contender, rounds } of cpu) {
    for (const to of references) {
      const reference = cpu.find(row => row.workload === workload && row.contender === to)
      if (!reference || contender === to) continue
      derived.ratios.push({ workload, contender, to, ...pairedRatio(rounds, reference.rounds) })
    }
  }
}

/**
 * The ranking of one workload: cheapest first, with its chart and its remarks.
 *
 * @param {object} result with ratios
 * @param {string} workload
 * @param {{ heading: string, references: string[], question?: string }} view question: the workload under
 *   which the responses of its servers were verified
 * @return {object|null} a section for `finish`; null where nothing was measured
 */
exports.ranking = function (result, workload, { heading, references, question = workload }) {
  const { rows, derived } = result
  const responses = derived.responses.filter(response => response.workload === question)
  const of = metric => rows.filter(row => row.workload === workload && row.metric === metric)
  const cpu = of('cpu').sort((a, b) => a.median - b.median)
  if (!cpu.length) return null

  const marked = references.filter(name => cpu.some(row => row.contender === name))
  const head = ['', 'requests/s', 'spread', 'CPU µs/request', 'min', 'p25', ...marked.map(name => `÷ ${name}`), 'bytes']
  const lines = cpu.map(row => {
    const same = ({ contender }) => contender === row.contender
    const rate = of('throughput').find(same)
    return [
      row.contender,
      Math.round(rate.median).toLocaleString('en'),
      `±${Math.round((rate.max - rate.min) / 2 / rate.median * 100)} %`,
      short(row.median),
      short(row.min),
      short(row.p25),
      ...marked.map(to => row.contender === to ? '1' : ratio(result, { workload, contender: row.contender, to })),
      String(responses.find(same)?.bytes ?? '')
    ]
  })
  return {
    heading,
    table: [head, ...lines],
    chart: { rows: cpu, caption: 'server CPU per request, µs: shorter is better; bars are medians, whiskers the fastest and slowest round' },
    notes: notes(result, workload)
  }
}

/**
 * A ratio as a table shows it: `0.58 (0.56–0.61)`, the median and the lowest and highest round.
 *
 * @param {object} result
 * @param {{ workload: string, contender: string, to: string }} of
 * @return {string}
 */
const ratio = exports.ratio = function ({ derived }, { workload, contender, to }) {
  const found = derived.ratios.find(one =>
    one.workload === workload && one.contender === contender && one.to === to)
  return text.ratio(found)
}

/**
 * What was aimed at and what was reached, also kept as `derived.targets`.
 *
 * @param {object} result
 * @param {{ heading: string, targets: object[] }} of targets: `{ what, target?, spread? }`, no target where a
 *   figure is only shown, no spread where it was not measured
 * @return {object} a section for `finish`
 */
exports.aims = function (result, { heading, targets }) {
  result.derived.targets = targets.map(({ what, target, spread }) => ({ what, target, ...spread }))
  return { heading, table: [['', 'target', 'figure', 'spread', ''], ...targetLines(result.derived.targets)] }
}

/**
 * The CPU row of a contender.
 *
 * @param {object} result
 * @param {string} workload
 * @param {string} contender
 * @return {object|undefined}
 */
exports.cpu = function ({ rows }, workload, contender) {
  return rows.find(row => row.workload === workload && row.contender === contender && row.metric === 'cpu')
}

/**
 * Print the sections, write out/LAB.nodeMAJOR.json and its page.
 *
 * @param {object} lab
 * @param {{ title: string, sections: object[] }} view sections: `{ heading, text?, table?, chart?, notes? }`
 */
exports.finish = function ({ result }, { title, sections }) {
  if (!result.missing.length) delete result.missing
  const present = sections.filter(Boolean)
  for (const { heading, text, table: rows, notes = [] } of present) {
    console.log(`\n${heading}\n`)
    if (text) console.log(text)
    if (rows) console.log(table(rows))
    for (const note of notes) console.log(`* ${note}`)
  }
  result.derived.view = indexed(result, { title, sections: present })
  const { machine: { cpu, cores, kernel }, node, derived: { quick, rounds } } = result
  console.log(`\n${cpu}, ${cores} cores, ${kernel}, Node ${node}, ${rounds} rounds${quick ? ' (quick: a first look, not a result)' : ''}`)

  for (const line of claimLines(result)) console.log(line)

  const file = save(path.join(OUT, `${nameOf(result)}.html`), page(result, { title, sections: present }))
  console.log(`${relative(write(result))}  ${relative(file)}`)
}

// Which of kone's claims this very run supports, what it does not support first.
function claimLines (result) {
  const measured = ofRun(result).filter(({ verdict }) => verdict !== 'not measured')
  if (!measured.length) return []
  const heads = { supported: 'supported', 'by the median': 'supported by the median only', 'not supported': 'NOT SUPPORTED' }
  const good = measured.filter(({ verdict }) => verdict === 'supported')
  return [
    `\nThis run supports ${good.length} of ${measured.length} claims in every round:`,
    ...measured.map(({ says, atMost, spread, verdict }) => `* ${heads[verdict]}: ${says}: ${text.ratio(spread)}, claimed at most ${atMost}`),
    ''
  ]
}

const relative = file => path.relative(process.cwd(), file)
