'use strict'

const { targets } = require('../../lib/report/claims')
const { aims, ranking } = require('../../lib/report/report')
const { rowOf, rowsOf } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')
const large = require('./large')
const { growth } = require('./plan')

/** The workload of --all. */
const CROWDED = exports.CROWDED = '13 B, 60,000 connections'

/** Contenders to divide by. */
const REFERENCES = exports.REFERENCES = ['node', 'sirv', 'koa-static', 'nginx']

/**
 * @param {object} result of static
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  return {
    title: 'static: files, kone beside the servers that are made for them',
    sections: [
      reached(result),
      ...result.derived.workloads.map(({ workload, heading, path }) => ranking(result, workload, {
        heading: `${rowsOf(result, workload)[0]?.generator}: ${heading}`,
        references: REFERENCES.slice(0, 2),
        question: path
      })),
      ...large.tables(result),
      ranking(result, CROWDED, { heading: `${CROWDED}, by several processes`, references: REFERENCES.slice(0, 1) })
    ]
  }
}

function reached (result) {
  const claims = targets('static', result)
  const claimed = name => claims.find(({ to }) => to === name)?.target
  const rounds = (workload, contender) => rowOf(result, workload, contender)?.rounds ?? []
  const over = (workload, to) => pairedRatio(rounds(workload, 'kone'), rounds(workload, to))
  const small = '13 B, 64 connections'
  const many = '13 B, 6,000 connections'
  return aims(result, {
    heading: `targets on Node ${parseInt(result.node.slice(1))}, server CPU per request, kone from memory, 13 B`,
    targets: [
      { what: '16 deep pipelined ÷ node:http from a buffer', target: 0.25, spread: over('13 B, pipelined 16', 'node') },
      { what: '64 connections ÷ node:http from a buffer', target: claimed('node'), spread: over(small, 'node') },
      { what: '64 connections ÷ sirv', target: claimed('sirv'), spread: over(small, 'sirv') },
      { what: '64 connections ÷ koa-static', target: 0.15, spread: over(small, 'koa-static') },
      {
        what: 'growth from 64 to 6,000 connections ÷ that of raw net',
        target: 1.15,
        spread: growth(name => [rounds(small, name), rounds(many, name)], 'kone', 'net')
      },
      { what: 'growth of kone, 64 to 6,000', spread: pairedRatio(rounds(many, 'kone'), rounds(small, 'kone')) },
      { what: 'growth of raw net, 64 to 6,000', spread: pairedRatio(rounds(many, 'net'), rounds(small, 'net')) }
    ]
  })
}
