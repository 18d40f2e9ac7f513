'use strict'

const fs = require('node:fs')
const { lab } = require('../../lib/run/lab')
const { list } = require('../../lib/servers/contenders')
const SUBJECTS = require('./subjects')
const view = require('./view')

/*
 * How cost grows as work grows: one subject after the other, kone beside koa and fastify, each with a slope.
 */

lab(module, {
  name: 'growth',
  contenders: list(require.resolve('./contenders')),
  probe: contender => ({ contender: { ...contender, args: ['middleware', '5'] }, expected: SUBJECTS.middleware.expected(5) }),
  view,

  async measure (lab) {
    lab.generators(['pooled'])
    await lab.inTime(Object.entries(SUBJECTS).map(([name, { at, few = at, takes = 1, ...how }]) => {
      const points = lab.options.quick ? [few[0], few[Math.floor(few.length / 2)], few.at(-1)] : at
      return { name, size: takes, act: () => measure(lab, name, { ...how, at: points }) }
    }))
  }
})

// A server for each contender and each n: what was large before leaves nothing behind.
async function measure (lab, subject, { at, request = () => ({}), expected, connections = () => 50 }) {
  const seconds = lab.options.quick ? 0.35 : 2
  const cells = []
  for (const n of at) {
    const workload = view.named(subject, n)
    const contenders = lab.contenders.map(one => ({ ...one, args: [subject, String(n)] }))
    for (const server of await lab.start(contenders, { workload, request: request(n), expected: expected(n) })) {
      const load = { generator: 'pooled', group: server.name, connections: connections(n), seconds }
      cells.push({ workload, server, load: { ...server.request, ...load } })
    }
  }
  await lab.measure(cells)
  if (subject === 'body') await peaks(lab, cells)
  await lab.stop(cells.map(({ server }) => server))
}

// The most memory that a server takes while it reads bodies. Writing to clear_refs resets the peak.
async function peaks (lab, measured) {
  if (!fs.existsSync('/proc/self/clear_refs')) return
  const { pooled } = lab.generators()
  const cells = measured.filter(({ rejected }) => !rejected).map(({ workload, server, load }) => ({ workload, server, load }))
  await lab.rounds(cells, {
    async visit ({ server, load }) {
      fs.writeFileSync(`/proc/${server.pid}/clear_refs`, '5')
      await pooled.run({ ...load, port: server.port, seconds: 0.2 })
      const status = fs.readFileSync(`/proc/${server.pid}/status`, 'latin1')
      return { memory: Number(/^VmHWM:\s*(\d+) kB/m.exec(status)[1]) * 1024 }
    }
  })
  // what is rejected here alone has its cost measured: it is there
  lab.recordFigures(cells.filter(({ rejected }) => !rejected), [['memory', 'bytes', ({ memory }) => memory]])
}
