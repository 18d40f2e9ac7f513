'use strict'

const { ratios } = require('../../lib/report/findings')
const { ranking } = require('../../lib/report/tables')
const { workloads } = require('./workloads')

exports.claims = workloads.map(({ workload, about, to }) =>
  [to === 'koa' ? `${about} ÷ the same on Koa 2` : about.replace(': kone ÷', ' ÷'), workload, to])

exports.overview = () => ({ lines: workloads.map(({ workload, about }) => [about, workload]) })

exports.chart = figures => ratios(figures, workloads.map(({ workload }) => workload), { what: 'Unmodified packages', to: 'koa' })

exports.sections = figures => workloads.map(({ workload, about, to }) => ranking(figures, workload, { heading: about, to: [to, 'node'] }))
