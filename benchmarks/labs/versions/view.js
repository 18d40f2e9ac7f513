'use strict'

const { finding } = require('../../lib/report/findings')
const { beside } = require('../../lib/report/tables')
const { ratio, short, whole } = require('../../lib/report/text')
const { compare } = require('../../lib/servers/binaries')

const SIDES = ['node', 'koa', 'kone']

const labelsOf = ({ names }) => [...new Set(names.map(name => name.replace(/^\w+-/, '')))].sort(compare)

exports.overview = function (figures) {
  const newest = labelsOf(figures).at(-1)
  const as = Object.fromEntries(SIDES.map(side => [side, `${side}-${newest}`]))
  return { lines: [[`Node ${newest}, keep-alive`, 'keep-alive', as], [`Node ${newest}, close`, 'close', { ...as, net: null }]] }
}

exports.answer = figures => finding(figures, 'keep-alive', { what: 'Hello world', on: `-${labelsOf(figures).at(-1)}` })

exports.sections = figures => [measured(figures, 'keep-alive'), measured(figures, 'close'), second(figures), report(figures)]

function measured (figures, workload) {
  const row = (side, label, metric) => figures.row(workload, `${side}-${label}`, metric)
  const labels = labelsOf(figures).filter(label => SIDES.some(side => row(side, label)))
  if (!labels.length) return null
  const newest = labels.at(-1)
  const over = (side, label, other, to = label) => figures.ratio(workload, `${side}-${label}`, `${other}-${to}`)
  return {
    heading: `Connection: ${workload}; ${figures.load(workload)}`,
    table: [
      ['Node', ...SIDES.map(side => `${side}, CPU µs`), 'kone ÷ node', `node ÷ node ${newest}`, ...SIDES.map(side => `${side}, requests/s`)],
      ...labels.map(label => [
        label, ...SIDES.map(side => short(row(side, label)?.median)),
        ratio(over('kone', label, 'node')), label === newest ? '1' : ratio(over('node', label, 'node', newest)),
        ...SIDES.map(side => whole(row(side, label, 'throughput')?.median))
      ])
    ],
    notes: figures.notes([workload])
  }
}

// The table with which the release notes of Node 0.6 compared it with 0.4: what, workload, metric, its ratio
const SECOND = [['1,024 bytes, requests/s', '1,024 bytes', 'throughput', 6263 / 5461], ['io read, MB/s', 'io', 'read', 26.63 / 19.75],
  ['io write, MB/s', 'io', 'write', 17.4 / 21.6], ['startup, ms', 'startup', 'time', 49.6 / 74.7]]

const second = figures => ({
  heading: 'a response of 1,024 bytes, files, the start',
  table: [
    ['Node', ...SECOND.map(([what]) => what)],
    ...labelsOf(figures).filter(label => figures.row('1,024 bytes', `node-${label}`, 'throughput')).map(label => [
      label, ...SECOND.map(([, workload, metric], i) => (i ? short : whole)(figures.row(workload, `node-${label}`, metric)?.median))])
  ],
  notes: ['io: one file through streams in blocks of 64 KB, from the cache of the system', ...figures.notes(['1,024 bytes'])]
})

// Of the report: the newest version of each line ÷ that of 0.8, requests per second.
const REPORT = { 0.1: 0.99, 0.2: 0.98, 0.3: 1.02, 0.4: 0.98, 0.5: 1.07, 0.6: 1, 0.7: 1, 0.9: 0.89 }

function report (figures) {
  const [oldest, ...later] = labelsOf(figures).filter(label => figures.row('keep-alive', `node-${label}`))
  const newest = later.at(-1) ?? oldest
  const over = (label, workload, metric) => figures.ratio(workload, `node-${label}`, `node-${oldest}`, { metric })
  return {
    ...beside(['', 'report', 'here'], [
      ...Object.entries(REPORT).map(([line, figure]) => [`Node ${line} ÷ 0.8, requests/s`, figure, '–']),
      ...later.map(label => [`Node ${label} ÷ ${oldest}, requests/s`, '–', over(label, 'keep-alive', 'throughput')]),
      ...SECOND.map(([what, workload, metric, figure]) => [`${what}: report 0.6 ÷ 0.4, here ${newest} ÷ ${oldest}`, figure, over(newest, workload, metric)])
    ]),
    text: 'Both go through other years: the report ends with 0.9, our binaries begin with 0.8. Above 1, more than the base.'
  }
}
