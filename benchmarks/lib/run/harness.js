'use strict'

const path = require('node:path')
const Server = require('../servers/server')
const { measure } = require('./measure')
const { repeat } = require('./rounds')
const { median, round } = require('./stats')

const ROUNDS = 3

// A server that writes fixed bytes for every read: whatever the generator costs, it is not the server.
const contender = { name: 'fixed bytes', file: path.join(__dirname, '../servers/fixed.js') }
const BODIES = { split: ['bodies'] } // what the server is started with, for a generator that sends bodies by themselves
const LOADS = {
  wrk: { connections: 50 },
  autocannon: { connections: 100 },
  pooled: { connections: 50, group: 'fixed bytes' },
  crowd: { connections: 1000 },
  paced: { connections: 100, rate: 10_000 },
  split: { connections: 50, path: '/', body: 'x' },
  rpc: {
    connections: 50,
    protocol: 'http',
    method: 'ping',
    args: [],
    path: '/',
    type: 'application/json',
    body: '[]',
    expected: { value: 'Hello World' }
  }
}

/**
 * What the generators cost by themselves: each against a server of fixed bytes. A row whose rate is near to that of
 * its generator here says what the generator can do, and not the server.
 *
 *    await harness(['wrk'], { generators: { wrk }, pins: null, quick: true })
 *    // [{ generator: 'wrk', connections: 50, requestsPerSecond: 120000, clientCpu: 4.1, serverCpu: 5.2 }]
 *
 * split pauses between headers and body, so that its rate is that of the pause.
 */
exports.harness = async function (names, { generators, pins, quick }) {
  const rows = []
  for (const generator of names.filter(name => LOADS[name])) {
    const load = { ...LOADS[generator], generator, seconds: quick ? 1 : 2 }
    const server = await Server.start({ ...contender, args: BODIES[generator] }, { node: process.execPath, pin: pins?.server })
    try {
      rows.push(await cost({ server, load }, generators[generator]))
    } finally {
      await server.stop()
    }
  }
  return rows
}

async function cost (cell, client) {
  const { generator, connections } = cell.load
  try {
    const samples = await repeat(ROUNDS, async () => {
      const sample = await measure(cell, client)
      if (sample.errors) throw new Error(`${sample.errors} errors in ${sample.requests + sample.errors} requests`)
      return sample
    })
    const of = name => round(median(samples.map(sample => sample[name])))
    return { generator, connections, requestsPerSecond: of('requestsPerSecond'), clientCpu: of('clientCpu'), serverCpu: of('cpu') }
  } catch (err) {
    return { generator, connections, failed: err.message }
  }
}
