'use strict'

const { pairedRatio } = require('../run/stats')

/*
 * What kone claims: each a ratio of two rows of one result, paired round by round. The reference 'others' is the
 * cheapest of the other frameworks.
 */

// [what is claimed, at most, lab, workload, contender, reference, metric]
const CLAIMS = [
  ['An app behind five middleware costs less per request than bare node:http without any', 1, 'battle', 'hello', 'kone', 'node'],
  ['It costs at most 0.6 of what Koa 2 costs', 0.6, 'battle', 'hello', 'kone', 'koa'],
  ['It costs less than every other framework measured', 1, 'battle', 'hello', 'kone', 'others'],
  ['The whole middleware set costs at most 0.33 of Koa with its packages', 0.33, 'mw', 'plain', 'kone', 'koa'],
  ['With a template, at most 0.2', 0.2, 'mw', 'template', 'kone', 'koa'],
  ['A JSON body in one read costs at most 0.62 of node:http', 0.62, 'front', 'post', 'kone', 'node'],
  ['Pipelined requests cost at most a fifth of node:http', 0.2, 'front', 'pipelined 16', 'kone', 'node'],
  ['An idle connection takes at most 0.65 of the memory', 0.65, 'front', 'idle', 'kone', 'node', 'memory'],
  ['A small file from memory costs at most 0.8 of node:http answering from a buffer', 0.8, 'static', '13 B, 64 connections', 'kone', 'node'],
  ['And at most a quarter of sirv', 0.25, 'static', '13 B, 64 connections', 'kone', 'sirv'],
  ['A thousand connections that always ask cost less than with node:http', 1, 'connections', 'closed loop, 1,000 connections', 'kone', 'node'],
  ['An RPC call in JSON costs at most 0.85 of node:http by hand', 0.85, 'rpc', 'ping, 50 in flight', 'kone', 'node'],
  ['So does one in Hessian', 0.85, 'rpc', 'ping, 50 in flight', 'kone-hessian', 'node-hessian'],
  ['A call in JSON costs at most 0.45 of gRPC', 0.45, 'rpc', 'ping, 50 in flight', 'kone', 'grpc'],
  ['Isolating errors adds at most a tenth', 1.1, 'rpc', 'noError, 50 in flight', 'kone', 'kone-unguarded'],
  ['A hundred middleware cost less than with Koa', 1, 'growth', 'middleware: 100', 'kone', 'koa']
].map(([says, atMost, lab, workload, contender, to, metric = 'cpu']) => ({ says, atMost, lab, workload, contender, to, metric }))

/**
 * A claim held against the results.
 *
 *    check({ lab: 'battle', workload: 'hello', metric: 'cpu', contender: 'kone', to: 'node', atMost: 1 }, results)
 *
 * @param {object} claim
 * @param {object} results by lab
 * @return {{ verdict: string, spread?: object, row?: object, reference?: object }} verdict: 'supported' by the
 *   median and every round, 'by the median' alone, 'not supported', or 'not measured'
 */
exports.check = function ({ lab, workload, metric, contender, to, atMost }, results) {
  const rows = (results[lab]?.rows ?? []).filter(row => row.workload === workload && row.metric === metric)
  const row = rows.find(row => row.contender === contender)
  const reference = to === 'others' ? cheapestFramework(rows) : rows.find(row => row.contender === to)
  const spread = row && reference && pairedRatio(row.rounds, reference.rounds)
  if (!spread) return { verdict: 'not measured' }

  const verdict = spread.max <= atMost ? 'supported' : spread.median <= atMost ? 'by the median' : 'not supported'
  return { verdict, spread, row, reference }
}

/**
 * Where kone costs more than somebody: every CPU and memory row of another contender that lies below kone's.
 *
 * @param {object} result
 * @return {{ workload: string, metric: string, row: object, other: object, spread: object }[]} the greatest first
 */
exports.losses = function ({ rows }) {
  const costs = rows.filter(({ metric }) => metric === 'cpu' || metric === 'memory')
  const found = []
  for (const row of costs.filter(({ contender }) => contender === 'kone')) {
    for (const other of costs) {
      if (other.workload !== row.workload || other.metric !== row.metric || other.contender.startsWith('kone')) continue
      const spread = pairedRatio(row.rounds, other.rounds)
      if (spread?.median > 1) found.push({ workload: row.workload, metric: row.metric, row, other, spread })
    }
  }
  return found.sort((a, b) => b.spread.median - a.spread.median)
}

/**
 * Targets of a lab that were missed.
 *
 * @param {object} result
 * @return {object[]} of derived.targets
 */
exports.missed = ({ derived: { targets = [] } = {} }) => targets.filter(({ target, median }) => target && median > target)

/**
 * Claims with their verdicts, in the order in which they are made.
 *
 * @param {object} results by lab
 * @return {object[]}
 */
exports.checked = results => CLAIMS.map(claim => ({ ...claim, ...exports.check(claim, results) }))

function cheapestFramework (rows) {
  const others = rows.filter(({ contender }) => contender !== 'node' && !contender.startsWith('kone'))
  return others.sort((a, b) => a.median - b.median)[0]
}
