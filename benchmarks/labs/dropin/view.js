'use strict'

const { ratios } = require('../../lib/report/findings')
const { ranking } = require('../../lib/report/tables')
const { workloads } = require('./workloads')

const TOUCHED = 'ctx.res touched'

exports.claims = workloads.map(({ workload, about, to }) =>
  [workload === TOUCHED ? 'ctx.res read, a string body ÷ kone on node:http' : `${about} ÷ the same on Koa 2`, workload, to])

exports.overview = () => ({ lines: workloads.map(({ workload, about }) => [about, workload]) })

exports.sections = figures => [
  {
    heading: 'kone beside Koa',
    chart: ratios(figures, workloads.map(({ workload }) => workload), { what: 'Unmodified packages', to: 'koa' })
  },
  ...workloads.map(({ workload, about, to }) => ranking(figures, workload, { heading: about, to: [to, 'node'] }))
]
