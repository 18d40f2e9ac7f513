'use strict'

const Server = require('../servers/server')
const bar = require('./progress')
const idle = require('../load/idle')
const { row } = require('./result')

const WARM = 500 // connections before the first look: what the first ones load is not counted

/**
 * Resident memory per idle keep-alive connection. Every round starts each server anew, for a heap that
 * has grown does not shrink back, and looks after a garbage collection.
 *
 * @param {Lab} lab
 * @param {object[]} contenders with the flag --expose-gc, and patient with silent connections
 * @param {{ workload: string, connections: number, question: object }} of
 */
exports.memory = async function (lab, contenders, { workload, connections, question }) {
  const { options: { rounds, node }, pins, result } = lab
  const able = await lab.start(contenders, { workload, ...question })
  await Promise.all(able.map(server => server.stop()))
  const measured = contenders.filter(({ name }) => able.some(server => server.name === name))
  const figures = new Map(measured.map(({ name }) => [name, []]))

  const progress = bar(rounds * measured.length)
  for (let round = 1; round <= rounds; round++) {
    for (const contender of measured) {
      progress.tick(`round ${round} of ${rounds}: ${contender.name}, ${connections} idle connections`)
      const server = await Server.start(contender, { node, flags: contender.flags, pin: pins?.server })
      figures.get(contender.name).push(await perConnection({ server, connections, pin: pins?.load }))
      await server.stop()
    }
  }
  progress.end()

  for (const [contender, rounds] of figures) {
    result.rows.push(row({ workload, contender, metric: 'memory', unit: 'bytes/connection' }, rounds))
  }
}

async function perConnection ({ server, connections, pin }) {
  const before = await residentWith(server, WARM, pin)
  return (await residentWith(server, connections, pin) - before) / (connections - WARM)
}

async function residentWith (server, connections, pin) {
  const generator = idle({ pin })
  try {
    await generator.run({ port: server.port, connections })
    return await server.resident()
  } finally {
    generator.stop()
  }
}
