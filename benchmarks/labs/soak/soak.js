'use strict'

const { list } = require('../../lib/servers/contenders')
const { prepare } = require('../arena/data')
const { PROFILES, check, loadOf } = require('../arena/profiles')

const LOOKS = 10

/**
 * Resident memory of servers after their start, in rounds, and then after each tenth of a number of requests, without a
 * forced garbage collection.
 *
 *    await soak(lab, contenders, { workload: 'soak', question, load })
 *
 * @param {Session} lab
 * @param {object[]} contenders as `lab.start` takes them
 * @param {{ workload: string, question: object, load?: object, each?: number, looks?: number }} how load: what is
 *   requested, of 50 connections; each: requests between two looks, at least
 */
const soak = exports.soak = async function (lab, contenders, { workload, question, load, looks = LOOKS, each }) {
  each ??= lab.options.quick ? 10_000 : 100_000
  lab.result.derived.requestsPerRound = each
  const generator = lab.generators()[lab.generator()]
  const servers = await lab.start(contenders, { workload, ...question })
  const started = servers.map(server => ({ workload, server }))
  await lab.rounds(started, {
    async visit ({ server }) {
      await server.restart()
      return { start: await server.resident() }
    }
  })
  lab.recordFigures(started, [['start', 'bytes', ({ start }) => start]])
  const cells = started.filter(({ rejected }) => !rejected).map(({ server }) => ({ workload, server }))
  await lab.rounds(cells, {
    count: looks,
    tries: 1, // a round that failed has changed the memory
    async visit ({ server }) {
      for (let sent = 0; sent < each;) {
        const { requests, errors } = await generator.run({ ...load, port: server.port, connections: 50, seconds: 1 })
        if (errors) throw new Error(`${errors} errors`)
        sent += requests
      }
      return { memory: await server.resident() }
    }
  })
  lab.recordFigures(cells, [['memory', 'bytes', ({ memory }) => memory]])
  await lab.stop(servers)
}

/** The same of the profile `mixed` of the arena, for those of its apps that are named. */
exports.mixed = async function (lab, only, how) {
  const folder = lab.folder()
  prepare(folder)
  const contenders = list(require.resolve('../arena/contenders'), { only }).map(one => ({ ...one, args: [folder] }))
  const { requests } = PROFILES.mixed
  await soak(lab, contenders, { workload: 'mixed', question: { expected: { requests }, check }, load: loadOf(PROFILES.mixed), ...how })
}
