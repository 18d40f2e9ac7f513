'use strict'

const { lab } = require('../../lib/run/lab')
const { list } = require('../../lib/servers/contenders')
const { ALONE, WHOLE } = require('./workloads')

lab(module, {
  name: 'mw',
  contenders: list(require.resolve('./contenders')),
  view: require('./view'),

  async measure (lab) {
    const { quick } = lab.options
    const load = { generator: lab.generator(['autocannon']), connections: 100, seconds: quick ? 1 : 3 }
    await lab.inTime([
      ...Object.keys(WHOLE).map(kind => ({ name: kind, size: lab.contenders.length, act: () => whole(lab, kind, load) })),
      separately(lab, { generator: lab.generator(), connections: 50, seconds: quick ? 1 : 2 })
    ])
  }
})

function whole (lab, kind, load) {
  const contenders = lab.contenders.filter(({ name }) => name !== 'kone-packages').map(one => ({ ...one, args: [kind] }))
  return lab.group(contenders, { workload: kind, ...WHOLE[kind], reference: 'koa', floor: {} }, { [kind]: load }, { quickWarm: 1.5 })
}

// All in the same rounds: what one middleware costs is a small difference between two figures. Of a first look, as
// many of them as there is time for.
function separately (lab, load) {
  const contenders = lab.contenders.filter(({ name }) => !name.endsWith('-bluebird'))
  const each = contenders.length * (lab.options.rounds * load.seconds + 1) // s
  return {
    name: 'each middleware alone',
    seconds: 4 * each,
    size: 1,
    async act () {
      const all = Object.keys(ALONE)
      const taken = all.slice(0, Math.max(1, Math.floor(lab.timeLeft / 1000 / each)))
      for (const workload of all.slice(taken.length)) lab.skip(workload)
      const cells = []
      for (const workload of taken) {
        const { hasTwin } = ALONE[workload]
        const taking = contenders.filter(({ name }) => name === 'kone' || hasTwin).map(one => ({ ...one, args: [workload] }))
        const servers = await lab.start(taking, { workload, ...ALONE[workload], reference: 'koa' })
        for (const server of servers) cells.push({ workload, server, load: { ...server.request, ...load } })
      }
      await lab.measure(cells)
      await lab.stop(cells.map(({ server }) => server))
    }
  }
}
