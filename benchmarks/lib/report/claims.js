'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { pairedRatio } = require('../run/stats')
const { judged, rowsOf } = require('../run/result')
const { newest } = require('./committed')

/*
 * What kone claims, in claims.json: each a ratio of two rows of one result, paired round by round, and what it is at
 * most on Node 20 and on Node 26. The reference 'others' is the cheapest of the other frameworks. Where a workload was
 * measured by two generators, the rows of wrk count. `make report` tightens a threshold that a result supports with a
 * wide margin; only a person loosens one.
 */

const FILE = path.join(__dirname, 'claims.json')
const MARGIN = 1.1 // times the worst round: what another quiet run may have
const ENOUGH = 8 // rounds, before a threshold follows a result

const ORDER = ['not supported', 'by the median', 'supported', 'not measured']

/** @return {object[]} the claims: `{ says, lab, workload, contender, to, toWorkload?, metric?, atMost }` */
const claims = exports.claims = () => JSON.parse(fs.readFileSync(FILE, 'utf8'))

/**
 * A claim held against the result of its lab.
 *
 *    check({ workload: 'hello', contender: 'kone', to: 'node' }, 0.89, result).verdict // 'supported'
 *
 * @param {object} claim
 * @param {number} atMost
 * @param {object} [result]
 * @return {{ verdict: string, spread?: object, row?: object, reference?: object }} verdict: 'supported' by every
 *   round, 'by the median' alone, 'not supported', or 'not measured'
 */
const check = exports.check = function ({ workload, toWorkload = workload, metric = 'cpu', contender, to }, atMost, result) {
  if (!result) return { verdict: 'not measured' }
  const of = name => rowsOf(result, judged(result, name), metric)
  const row = of(workload).find(row => row.contender === contender)
  const reference = to === 'others' ? of(toWorkload).find(isOtherFramework) : of(toWorkload).find(row => row.contender === to)
  const spread = row && reference && pairedRatio(row.rounds, reference.rounds)
  if (!spread) return { verdict: 'not measured' }

  const verdict = spread.max <= atMost ? 'supported' : spread.median <= atMost ? 'by the median' : 'not supported'
  return { verdict, spread, row, reference }
}

/**
 * Every claim on every version of Node for which it is made, held against the newest results. What is not supported
 * is first, what was not measured last.
 *
 * @param {object[]} results
 * @param {object[]} [all] claims
 * @return {object[]} claims with `on` (a major version of Node), `atMost` on it, and what `check` gives
 */
exports.checked = function (results, all = claims()) {
  const labs = newest(results)
  return sorted(all.flatMap(claim => Object.entries(claim.atMost).map(([on, atMost]) => {
    const figures = labs.get(claim.lab)?.find(({ major }) => major === Number(on))
    return { ...claim, on: Number(on), atMost, ...check(claim, atMost, figures?.result) }
  })))
}

/**
 * The claims of one run, which may be on any version of Node: between 20 and 26 the looser threshold counts.
 *
 * @param {object} result
 * @return {object[]} as `checked`, without those of other labs
 */
exports.ofRun = result => sorted(ofLab(result.lab, result))

/**
 * The claims of a lab as its own table shows them, in the order of claims.json.
 *
 * @param {string} lab
 * @param {object} result of it
 * @return {{ what: string, target: number, spread?: object, workload: string, contender: string, to: string }[]}
 */
exports.targets = (lab, result) => ofLab(lab, result).map(({ says: what, atMost: target, spread, workload, contender, to }) =>
  ({ what, target, spread, workload, contender, to }))

function ofLab (name, result) {
  const on = parseInt(result.node.slice(1))
  return claims().filter(({ lab }) => lab === name).map(claim => {
    const atMost = claim.atMost[on] ?? Math.max(...Object.values(claim.atMost))
    return { ...claim, on, atMost, ...check(claim, atMost, result) }
  })
}

/**
 * Thresholds that the results support with a wide margin: the worst round is below them by more than a tenth.
 *
 * @param {object[]} results
 * @param {object[]} [all] claims
 * @return {{ says: string, on: number, from: number, to: number, worst: number, claim: object }[]} to: the worst round
 *   and a tenth, rounded up to hundredths
 */
exports.loose = function (results, all = claims()) {
  const labs = newest(results)
  return all.flatMap(claim => Object.entries(claim.atMost).flatMap(([on, from]) => {
    const figures = labs.get(claim.lab)?.find(({ major }) => major === Number(on))
    const { verdict, spread } = check(claim, from, figures?.result)
    if (verdict !== 'supported' || figures.result.derived?.quick || spread.rounds.length < ENOUGH) return []
    const to = Math.ceil(Math.round(spread.max * MARGIN * 1e4) / 100) / 100
    return to < from ? [{ says: claim.says, on: Number(on), from, to, worst: spread.max, claim }] : []
  }))
}

/**
 * Tighten the thresholds that `loose` names, in claims.json.
 *
 * @param {object[]} results
 * @param {string} [file]
 * @return {object[]} what `loose` gave
 */
exports.tighten = function (results, file = FILE) {
  const all = JSON.parse(fs.readFileSync(file, 'utf8'))
  const found = exports.loose(results, all)
  for (const { claim, on, to } of found) claim.atMost[on] = to
  if (found.length) fs.writeFileSync(file, `[\n${all.map(claim => `  ${JSON.stringify(claim)}`).join(',\n')}\n]\n`)
  return found
}

/**
 * Where kone costs more than somebody: every CPU and memory row of another contender that is below kone's.
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

const sorted = list => [...list].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict))

const isOtherFramework = ({ contender }) => contender !== 'node' && !contender.startsWith('kone')
