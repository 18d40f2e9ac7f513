'use strict'

const { finding } = require('../../lib/report/findings')
const { beside, matrix, ranking } = require('../../lib/report/tables')
const { short } = require('../../lib/report/text')

const SMALL = '13 B, 64 connections'
const MANY = '13 B, 6,000 connections'
const DEEP = '13 B, pipelined 16'

/** The workload of --all. */
const CROWDED = exports.CROWDED = '13 B, 60,000 connections'

exports.claims = [
  ['a file of 13 bytes from memory ÷ node:http responding from a buffer', SMALL, 'node'],
  ['a file of 13 bytes from memory ÷ sirv', SMALL, 'sirv'],
  ['a file of 13 bytes from memory ÷ koa-static', SMALL, 'koa-static'],
  ['16 deep pipelined ÷ node:http from a buffer', DEEP, 'node'],
  ['6,000 connections ÷ 64', MANY, 'kone', { toWorkload: SMALL }]
]

const isLarge = (figures, workload) => figures.rows(workload, 'perMB').length > 0
const small = figures => figures.workloads.filter(workload => !isLarge(figures, workload) && workload !== CROWDED)

exports.answer = figures => finding(figures, SMALL, { what: 'A file of 13 bytes from memory', to: ['koa-static', 'node', 'nginx'] })

exports.overview = figures => ({
  lines: [...small(figures), CROWDED].flatMap(workload => [
    [workload, workload, { koa: 'koa-static', ...workload === CROWDED ? { net: null } : {} }],
    [`${workload}, kone from the disk`, workload, { net: null, kone: 'kone-disk', node: null, koa: 'koa-static' }]
  ])
})

exports.sections = figures => [
  ...small(figures).map(workload => ranking(figures, workload, {
    to: ['node', 'sirv', 'nginx'],
    verified: workload === SMALL ? 'every file' : undefined
  })),
  ...figures.workloads.filter(workload => isLarge(figures, workload)).map(workload => matrix(figures, {
    heading: workload,
    columns: [['CPU µs/MB', workload, 'perMB'], ['MB/s', workload, 'bandwidth'], ['peak resident MB', workload, 'memory']],
    names: figures.rows(workload, 'perMB').map(({ contender }) => contender),
    to: 'node-disk',
    verified: workload.startsWith('1 MB') ? 'large files' : undefined
  })),
  ranking(figures, CROWDED, { heading: '60,000 connections, by several processes', to: ['node'], columns: { 'mean ms': row => short(row.latencyMeanMs) } }),
  report(figures)
]

// Of the report: cores ÷ requests per second of tests 1, 2, 3, 5 and 6.
const COST = { 1: 4 / 839_989.75, 2: 4 / 2_288_798.42, 3: 4 / 4_186_395.22, 5: 5 / 3_249_100.74, 6: 5 / 1_221_969.24 }

function report (figures) {
  const server = figures.row(SMALL, 'hphs') ? 'hphs' : 'nginx'
  const here = (workload, name) => figures.ratio(workload, name, name, { toWorkload: SMALL })
  return {
    ...beside(['', 'report, HPHS', `here, ${server}`, 'here, kone'], [
      ['60,000 ÷ 6,000 connections (tests 2 and 1)', COST[2] / COST[1], '–', '–'],
      ['6,000 ÷ 64 connections', '–', here(MANY, server), here(MANY, 'kone')],
      ['16 deep ÷ not pipelined (tests 3 and 2)', COST[3] / COST[2], here(DEEP, server), here(DEEP, 'kone')],
      ['16 deep ÷ not pipelined (tests 6 and 5)', COST[6] / COST[5], '–', '–']
    ]),
    text: 'Ratio by ratio, of CPU per request; below 1, the first costs less.'
  }
}
