'use strict'

const { quantile } = require('./stats')

const OTHERS = 0.05 // share of all cores that processes besides those that are measured, and their load, may take
const STEAL = 0.02 // share of all cores
const WAIT = 0.25 // of the time that servers ran, in the median: they waited for their core
// load average per core, where OTHERS is not known: servers and generators are in it, a cluster more than once
const LOAD = 3

/**
 * Why a round must be measured again, or undefined.
 *
 * @param {object} round as rounds.js records it
 * @param {{ cores: number, kernel: string }} machine
 * @param {boolean} [isShared] several processes on one core wait for each other
 */
exports.disturbance = function (round, machine, isShared = false) {
  const isContended = !isShared && round.wait > WAIT
  return disturbances([round], 1, machine)[0] ??
    (isContended ? `servers waited ${percent(round.wait)} of their run time for their core (${percent(WAIT)} at most)` : undefined)
}

/** Why a machine was not quiet in a share of some rounds. */
const disturbances = exports.disturbances = function (rounds, share, { cores, kernel = '' }) {
  const most = name => quantile(rounds.map(one => one[name]), share)
  const found = []
  if (most('others') > OTHERS) found.push(`other processes took ${percent(most('others'))} of the machine (${percent(OTHERS)} at most)`)
  if (most('steal') > STEAL) found.push(`the hypervisor took ${percent(most('steal'))} of the machine (${percent(STEAL)} at most)`)
  if (!kernel.startsWith('Linux') && most('load') > LOAD * cores) found.push(`the load average was ${most('load').toFixed(1)} (${LOAD * cores} at most)`)
  return found
}

const percent = exports.percent = share => `${(share * 100).toFixed(1)} %`
