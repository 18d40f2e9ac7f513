'use strict'

const { setTimeout: sleep } = require('node:timers/promises')
const cpu = require('./cpu')
const { disbelief, median, pairedRatio, standardError } = require('./stats')

const QUIET = 1e6 // ns of CPU time in 50 ms
const LEAST = 3 // rounds of a workload
const PRECISE = 0.03 // standard error of kone ÷ Koa, or of kone where it is alone

/**
 * What a server's CPU time per request is under one load.
 *
 *    await measure({ server, load: { generator: 'wrk', connections: 50, seconds: 2 } }, wrk)
 *
 * The generator's sample gets `cpu` (µs per request of the server), `busy` (share of the time in which the server ran
 * or waited for its core), `wait` (time it waited ÷ time it ran) and `steal` (share of all cores that the hypervisor
 * took).
 */
exports.measure = ({ server, load }, generator) =>
  cost(server, mark => generator.run({ ...load, port: server.port, mark }))

/**
 * The same of an act: a function that gives a sample. It may mark when its connections are 'settled' and when its load
 * is 'over': what is between is measured then. With untilQuiet what the server does after the act is counted, too.
 */
const cost = exports.cost = async function (server, act, { untilQuiet = false } = {}) {
  const marks = {}
  const mark = what => { marks[what] = server.usage().catch(() => null) }
  const start = await server.usage()
  const earlier = cpu.machine()
  const sample = await act(mark)
  const later = cpu.machine()
  const end = untilQuiet ? await quiet(server) : await server.usage()

  const { counted: requests = sample.requests } = sample // counted: those between the marks
  const before = await marks.settled ?? start
  const after = await marks.over ?? end
  const run = after.run - before.run
  const wait = after.wait - before.wait
  return {
    ...sample,
    cpu: run / 1000 / requests,
    busy: (run + wait) / 1e9 / (sample.seconds * requests / sample.requests),
    wait: wait / run,
    steal: later.total > earlier.total ? (later.steal - earlier.steal) / (later.total - earlier.total) : 0
  }
}

async function quiet (server) {
  let usage = await server.usage()
  for (let last = 0; usage.run - last > QUIET;) {
    last = usage.run
    await sleep(50)
    usage = await server.usage()
  }
  return usage
}

/** Why a sample of `measure` cannot be believed. */
exports.doubt = function ({ load }, sample) {
  // a latency of an open loop counts from when a request was due
  const connections = load.rate ? Infinity : load.connections
  return disbelief({ ...load, ...sample, connections }) ?? (sample.cpu > 0 ? null : 'no CPU time of it was seen')
}

/** Whether the rounds of a workload so far say what kone ÷ Koa is, precisely enough. */
exports.isPrecise = function (cells, least = LEAST) {
  const [kone, koa] = ['kone', 'koa'].map(name => cells.find(({ server }) => server.name === name)?.samples.map(({ cpu }) => cpu))
  const figures = kone && (koa ? pairedRatio(kone, koa)?.rounds : kone)
  return figures?.length >= least && standardError(figures) < PRECISE
}

/** What a reader must know about a cell before believing small differences. */
exports.remarks = function (samples, { rate } = {}) {
  const of = name => median(samples.map(sample => sample[name]))
  const remarks = []
  // A closed loop without pauses keeps a server busy; one that neither ran nor waited for its core idled.
  if (!rate && of('busy') < 0.9) remarks.push(`the load generator was the limit (server busy ${percent(of('busy'))})`)
  if (rate && of('requestsPerSecond') < 0.95 * rate) remarks.push(`the rate was not reached (${Math.round(of('requestsPerSecond'))} requests/s)`)
  if (of('wait') > 0.5) remarks.push(`the server's core was contended (waited ${percent(of('wait'))} of its run time)`)
  if (of('steal') > 0.05) remarks.push(`the hypervisor took ${percent(of('steal'))}`)
  return remarks
}

const percent = share => `${Math.round(share * 100)} %`
