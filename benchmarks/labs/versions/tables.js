'use strict'

const { notes } = require('../../lib/report/view')
const { short } = require('../../lib/report/text')
const { rowOf } = require('../../lib/run/result')

const SIDES = ['node', 'koa', 'kone']

/**
 * @param {object} result of versions
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  const { versions } = result.derived
  return {
    title: 'versions: hello world on every Node',
    sections: [...['keep-alive', 'close'].flatMap(workload => sections(result, workload, versions)), second(result, versions)]
  }
}

const rate = row => row ? Math.round(row.median).toLocaleString('en') : '–'

function sections (result, workload, labels) {
  const throughput = (side, label) => rowOf(result, workload, `${side}-${label}`, 'throughput')
  const spent = (side, label) => rowOf(result, workload, `${side}-${label}`)
  const sides = SIDES.filter(side => labels.some(label => spent(side, label)))
  if (!sides.length) return []
  const { generator, connections } = result.rows.find(row => row.workload === workload)

  return [
    {
      heading: `${workload}: requests per second, ${generator}, ${connections} connections`,
      table: [
        ['Node', ...sides.map(side => `${side} req/s`), ...sides.map(side => `${side} CPU µs`)],
        ...labels.map(label => [
          label,
          ...sides.map(side => rate(throughput(side, label))),
          ...sides.map(side => spent(side, label) ? short(spent(side, label).median) : '–')
        ])
      ],
      chart: chart(labels, sides, throughput, 'requests per second: higher is better')
    },
    {
      heading: `${workload}: server CPU per request`,
      chart: chart(labels, sides, spent, 'server CPU per request, µs: lower is better'),
      notes: notes(result, workload)
    }
  ]
}

function chart (names, sides, find, caption) {
  const series = sides.map(side => {
    const points = names.map((name, x) => ({ x, row: find(side, name) }))
    return { name: side, points: points.filter(({ row }) => row) }
  })
  return { caption, x: { label: 'versions of Node', names }, series }
}

// The table with which the release notes of Node 0.6 compared it with 0.4.
function second (result, labels) {
  const of = (label, workload, metric) => rowOf(result, workload, `node-${label}`, metric)
  const lines = labels.map(label => [
    label,
    rate(of(label, '1,024 bytes', 'throughput')),
    ...[['io', 'read'], ['io', 'write'], ['startup', 'time']].map(([workload, metric]) => {
      const found = of(label, workload, metric)
      return found ? short(found.median) : '–'
    })
  ])
  return {
    heading: 'a response of 1,024 bytes, files, the start',
    table: [['Node', '1,024 bytes, req/s', 'io read, MB/s', 'io write, MB/s', 'startup, ms'], ...lines],
    notes: ['io: one file through streams in blocks of 64 KB, from the cache of the system', ...notes(result, '1,024 bytes')]
  }
}
