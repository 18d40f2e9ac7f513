'use strict'

const path = require('node:path')
const Server = require('../servers/server')
const { measure } = require('./measure')
const { repeat } = require('./rounds')
const { median, round } = require('./stats')

const ROUNDS = 3
const CALL = { path: '/', type: 'application/json', body: '[]', expected: { value: '200 Hello World' } }
const LOADS = {
  wrk: { connections: 50 },
  autocannon: { connections: 100 },
  crowd: { connections: 1000 },
  paced: { connections: 100, rate: 10_000 },
  split: { connections: 50, path: '/', body: 'x' }, // it pauses between headers and body: its rate is that of the pause
  rpc: { connections: 50, ...CALL }
}

/**
 * What the generators cost by themselves: each against a server that writes fixed bytes for every read. A row whose rate
 * is near to that of its generator here says what the generator can do, and not the server.
 *
 *    await harness(['wrk'], { generators: { wrk }, pins: null, quick: true })
 *    // [{ generator: 'wrk', connections: 50, requestsPerSecond: 120000, clientCpu: 4.1, serverCpu: 5.2 }]
 */
exports.harness = async function (names, { generators, pins, quick }) {
  const rows = []
  for (const generator of names.filter(name => LOADS[name])) {
    const { connections, ...load } = LOADS[generator]
    const contender = { name: 'fixed bytes', file: path.join(__dirname, '../servers/fixed.js'), args: generator === 'split' ? ['bodies'] : [] }
    const server = await Server.start(contender, { node: process.execPath, pin: pins?.server })
    const cell = { server, load: { ...load, generator, connections, seconds: quick ? 1 : 2 } }
    try {
      const samples = await repeat(ROUNDS, () => sampleOf(cell, generators[generator]))
      const of = name => round(median(samples.map(sample => sample[name])))
      rows.push({ generator, connections, requestsPerSecond: of('requestsPerSecond'), clientCpu: of('clientCpu'), serverCpu: of('cpu') })
    } catch (err) {
      rows.push({ generator, connections, failed: err.message })
    } finally {
      await server.stop()
    }
  }
  return rows
}

async function sampleOf (cell, client) {
  const sample = await measure(cell, client)
  if (sample.errors) throw new Error(`${sample.errors} errors in ${sample.requests + sample.errors} requests`)
  return sample
}
