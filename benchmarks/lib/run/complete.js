'use strict'

const { OPENINGS } = require('./connections')
const { ROUNDS } = require('./options')
const { problems } = require('./result')
const { disturbances, percent } = require('../../../command/measure/quiet')
const { two } = require('../report/text')

const SECONDS = 2
const MOST = 0.75 // of all rounds must be quiet: a neighbour may wake up once
const MOST_OF_PART = 0.5 // of the rounds of each part, because its figures are their medians

/**
 * What a result lacks to be committed.
 *
 *    lacks(result) // ['3 rounds, not 6 or more', 'it was made without --full']
 */
exports.lacks = function (result) {
  const found = problems(result)
  if (found.length) return found
  return [...completeness(result), ...origin(result), ...quietness(result)]
}

function completeness ({ rows, rejected = [], skipped = [], derived }) {
  const found = []
  if (derived.quick) found.push('it was made without --full')
  if (derived.only) found.push(`it has only ${derived.only.join(', ')}`)
  // What does not run with Koa either is no lack of kone's row: the page says why.
  const neither = new Set(rejected.filter(({ contender }) => contender === 'koa').map(({ workload }) => workload))
  const ours = rejected.filter(({ contender, workload }) => contender.startsWith('kone') && !neither.has(workload))
  if (ours.length) found.push(`it has no ${ours[0].contender} in ${ours[0].workload}: ${ours[0].reason}`)
  if (skipped.length) found.push(`there was no time for ${skipped.map(({ part }) => part).join(', ')}`)
  const rounds = Math.min(...rows.map(row => row.openings >= OPENINGS || row.isPrecise ? Infinity : row.rounds.length))
  if (!(rounds >= ROUNDS)) found.push(`it has ${rounds} rounds, not ${ROUNDS} or more`)
  const [first] = rows.filter(({ generator, seconds }) => generator && !(seconds >= SECONDS))
  if (first) found.push(`${first.workload} has rounds of ${first.seconds ?? 'an unknown number of'} s, not ${SECONDS} or more`)
  return found
}

function origin ({ commit }) {
  if (!commit) return ['its commit is not known: measure in a clone with git']
  return commit.dirty ? [`kone was not as in ${commit.hash.slice(0, 7)}: commit, then measure`] : []
}

/** Why a machine was not quiet, in the whole run and in each part of it: a long part could hide a disturbed short one. */
const quietness = exports.quietness = function ({ machine, conditions = [] }) {
  if (!conditions.length) return ['load and steal were not recorded']
  const found = disturbances(conditions, MOST, machine)
  if (found.length) return found
  const parts = [...new Set(conditions.map(({ part }) => part))]
  return parts.flatMap(name => {
    const rounds = conditions.filter(({ part }) => part === name)
    const share = rounds.length < ROUNDS ? 1 : MOST_OF_PART // a disturbed round of a few moves their median
    return disturbances(rounds, share, machine).map(reason => `${name}: ${reason}`)
  })
}

const STEADY = 0.1

/**
 * Why the figures that README shows first cannot be quoted: kone ÷ Koa differs too much from round to round.
 *
 * @param {Figures} figures
 * @param {string[]} workloads
 * @return {string[]}
 */
exports.unsteady = (figures, workloads) => workloads.flatMap(workload => {
  const { median, min, max } = figures.ratio(workload, 'kone', 'koa') ?? {}
  return (max - min) / median > STEADY
    ? [`kone ÷ Koa in ${workload} is ${two(median)}, in its rounds ${two(min)} to ${two(max)}, more than ${percent(STEADY)} of it apart: ` +
      'measure again, or say why by --why']
    : []
})
