'use strict'

/**
 * What a request costs the server of an app, with koa and with kone: measured in the rounds of the lab, by its load
 * generators, and discarded for its reasons.
 */

const generators = require('../../../benchmarks/lib/load/generators')
const { commit } = require('../../../benchmarks/lib/run/commit')
const { machine, pins } = require('../../../benchmarks/lib/run/machine')
const { doubt, measure, remarks } = require('../../../benchmarks/lib/run/measure')
const { nodeVersion } = require('../../../benchmarks/lib/run/options')
const { cellRows } = require('../../../benchmarks/lib/run/result')
const { rounds } = require('../../../benchmarks/lib/run/rounds')
const Client = require('./client')

const LOAD = { connections: 8, seconds: 2 }
const WARM = 2 // seconds

/**
 * The load generator, and where servers and load run: wrk if it is installed, otherwise autocannon.
 *
 *    const load = loader({ rounds: 8, node: process.execPath })
 *    await cost(app, [koa, kone], load)
 *    load.stop()
 *
 * @param {{ rounds: number, node: string, seconds?: number }} how node: the binary that runs the servers; seconds: of a round
 * @return {{ generator: string, pin?: string, run: Function, stop: Function }}
 */
exports.loader = function ({ rounds, node, seconds = LOAD.seconds }) {
  const generator = generators.wrk.missing() ? 'autocannon' : 'wrk'
  const pinned = pins()
  return { rounds, node, seconds, generator, pin: pinned?.server, ...generators[generator]({ pin: pinned?.load }) }
}

/**
 * Measures one app. Both servers are visited in every round, and the one that is first changes.
 *
 * @param {{ name: string, load: object }} app load: `{ line, status?, headers?, json?, form?, body? }`
 * @param {object[]} servers of benchmarks/lib/servers/server.js, named `koa` and `kone`
 * @param {object} load as `loader` gives it
 * @return {Promise<object>} `{ date, node, commit, machine, rounds, generator, connections, seconds, conditions, rows,
 *   rejected, discarded, remarks }`, with the fields of a lab's result
 * @throws {Error} a server responds with another status than `app.load` names
 */
exports.cost = async function ({ name, load: { line, status = 200, ...options } }, servers, load) {
  const { generator, seconds } = load
  const request = { ...Client.request(line, options), connections: LOAD.connections, generator, seconds }
  for (const { port } of servers) await expectStatus(status, port, line, options)

  const cells = servers.map(server => ({ workload: name, server, load: request }))
  for (const { server } of cells) await load.run({ ...request, seconds: Math.min(WARM, seconds), port: server.port })
  const conditions = await rounds(cells, { count: load.rounds, visit: cell => measure(cell, load), doubt })

  const each = (list, fn) => list.flatMap(cell => fn(cell).map(one => ({ contender: cell.server.name, ...one })))
  const kept = cells.filter(({ rejected }) => !rejected)
  return {
    date: new Date().toISOString(),
    node: nodeVersion(load.node),
    commit: commit(),
    machine: machine(),
    rounds: load.rounds,
    generator,
    connections: LOAD.connections,
    seconds,
    conditions,
    rows: kept.flatMap(cellRows),
    rejected: each(cells, ({ rejected }) => rejected ? [{ reason: rejected }] : []),
    discarded: each(cells, ({ discarded }) => discarded),
    remarks: each(kept, ({ samples }) => remarks(samples).map(remark => ({ remark })))
  }
}

// Load generators look at no more than whether a status is an error.
async function expectStatus (status, port, line, options) {
  const client = new Client(port)
  const response = await client.send(line, options)
  client.close()
  if (response.status !== status) throw new Error(`${line}: ${response.status} ${response.body.slice(0, 200)}`)
}
