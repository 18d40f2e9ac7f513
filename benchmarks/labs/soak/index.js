'use strict'

const { lab } = require('../../lib/run/lab')
const { list } = require('../../lib/servers/contenders')

/*
 * A million requests: whether memory grows with their number. Resident memory is read after each hundred thousand,
 * without a forced garbage collection. A round is a hundred thousand requests.
 */

const LOOKS = 10
const question = { request: { path: '/' }, expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' } }

lab(module, {
  name: 'soak',
  contenders: list(require.resolve('../battle/contenders'), { only: ['node', 'kone', 'koa'] }),
  probe: contender => ({ contender, ...question }),
  view: require('./view'),

  async measure (lab) {
    const each = lab.options.quick ? 10_000 : 100_000 // requests
    Object.assign(lab.result.derived, { rounds: LOOKS, requestsPerRound: each })
    const generator = lab.generators()[lab.generator()]
    const servers = await lab.start(lab.contenders, { workload: 'soak', ...question })
    const cells = servers.map(server => ({ workload: 'soak', server }))
    await lab.rounds(cells, {
      count: LOOKS,
      tries: 1, // a round that failed has changed the memory
      async visit ({ server }) {
        for (let sent = 0; sent < each;) {
          const { requests, errors } = await generator.run({ port: server.port, connections: 50, seconds: 1 })
          if (errors) throw new Error(`${errors} errors`)
          sent += requests
        }
        return { memory: await server.resident() }
      }
    })
    lab.recordFigures(cells, [['memory', 'bytes', ({ memory }) => memory]])
    await lab.stop(servers)
  }
})
