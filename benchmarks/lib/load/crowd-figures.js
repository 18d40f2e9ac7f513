'use strict'

const fs = require('node:fs')
const cpu = require('../run/cpu')
const { quantile } = require('../run/stats')

/**
 * What several processes measured, as one sample.
 *
 * @param {object[]} parts `{ requests, errors, reconnects, bytes, seconds, latencies: ms[] }`
 * @return {object} a sample, as every generator gives it, with p50, p90, p99 in ms
 */
exports.merge = function (parts) {
  const sum = name => parts.reduce((total, part) => total + part[name], 0)
  const latencies = Float64Array.from(parts.flatMap(part => part.latencies))
  const requests = sum('requests')
  const seconds = Math.max(...parts.map(part => part.seconds))
  let total = 0
  for (const ms of latencies) total += ms
  const at = p => latencies.length ? quantile(latencies, p) : NaN
  return {
    requests,
    seconds,
    bytes: sum('bytes'),
    errors: sum('errors'),
    reconnects: sum('reconnects'),
    requestsPerSecond: requests / seconds,
    latencyMeanMs: total / latencies.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99)
  }
}

/**
 * How many processes a server needs to hold so many connections, by the descriptors that one may have open.
 *
 *    processesFor(50_000, 20_000) // 3
 *
 * @param {number} connections
 * @param {number} descriptors of one process
 * @return {number}
 */
exports.processesFor = function (connections, descriptors) {
  const SPARE = 500
  const UNEVEN = 0.9 // they do not get equally many
  const one = descriptors - SPARE
  return connections <= one ? 1 : Math.ceil(connections / (one * UNEVEN))
}

/**
 * @return {number} descriptors that a process may have open here
 */
exports.descriptors = function () {
  try {
    return Number(/^Max open files\s+\S+\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1]) || Infinity
  } catch {
    return 10_240 // macOS
  }
}

/**
 * A server's CPU while a crowd acts on it.
 *
 * @param {Server} server
 * @param {() => Promise<object>} act resolves to a sample
 * @return {Promise<object>} the sample, as measure.js makes them
 */
exports.loaded = async function (server, act) {
  let sample
  const stolen = cpu.stolen()
  const { run, wait } = await spent(server, async () => { sample = await act() })
  const now = cpu.stolen()
  return {
    ...sample,
    cpu: run / 1000 / sample.requests,
    busy: (run + wait) / 1e9 / sample.seconds,
    wait: wait / run,
    steal: now.total > stolen.total ? (now.steal - stolen.steal) / (now.total - stolen.total) : 0
  }
}

/**
 * CPU time of a server, from an act's begin until it is quiet again.
 *
 * @param {Server} server
 * @param {() => Promise} act
 * @return {Promise<{ run: number, wait: number }>} ns
 */
const spent = exports.spent = async function (server, act) {
  const before = await server.usage()
  await act()
  let after = await server.usage()
  for (let last = 0; after.run - last > 1e6;) { // ns in 50 ms
    last = after.run
    await new Promise(resolve => setTimeout(resolve, 50))
    after = await server.usage()
  }
  return { run: after.run - before.run, wait: after.wait - before.wait }
}
