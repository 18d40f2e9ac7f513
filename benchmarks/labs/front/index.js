'use strict'

const { lab } = require('../../lib/run/lab')
const { doubt } = require('../../../command/measure/cost')
const { list } = require('../../lib/servers/contenders')
const { CALLS } = require('./fetch')
const view = require('./view')
const workloads = require('./workloads')

lab(module, {
  name: 'front',
  contenders: list(require.resolve('./contenders')),
  view,

  async measure (lab) {
    const generators = lab.generators(['wrk', 'autocannon', 'split'])
    const seconds = lab.options.quick ? 1 : 2

    // Where wrk is not installed autocannon stands in, but for cookies that change: those it cannot send.
    const possible = load => generators[load.generator] ? load : load.cookies ? null : { ...load, generator: 'autocannon' }

    await lab.inTime([
      ...workloads.map(({ app, request, expected, loads }) => {
        const [workload] = Object.keys(loads)
        const contenders = lab.contenders.filter(({ name }) => name in app)
          .map(one => ({ ...one, args: [app[one.name]] }))
        const given = Object.entries(loads).map(([name, load]) => [name, possible(load)]).filter(([, load]) => load)
        return {
          name: given.map(([name]) => name).join(', '),
          size: contenders.length * given.length,
          act: () => lab.group(contenders, { workload, request, expected, reference: 'node', floor: {} },
            Object.fromEntries(given.map(([name, load]) => [name, { ...load, seconds }])))
        }
      }),
      { name: view.FETCH, size: 2, act: () => fetch(lab, { generator: lab.generator(), connections: 4, seconds }) }
    ])
  }
})

// app.fetch() in a process of its own; the rows are of one call.
async function fetch (lab, load) {
  const workload = view.FETCH
  const contenders = lab.contenders.filter(({ name }) => ['kone', 'hono'].includes(name)).map(one => ({ ...one, args: ['fetch'] }))
  const servers = await lab.start(contenders, { workload, expected: workloads[0].expected })
  const cells = servers.map(server => ({ workload, server, load }))
  for (const cell of cells) await lab.warm(cell, load.seconds)
  await lab.rounds(cells, {
    visit: cell => lab.sample(cell),
    doubt,
    record: cells => lab.recordFigures(cells, [['cpu', 'µs/request', ({ cpu }) => cpu / CALLS]])
  })
  await lab.stop(servers)
}
