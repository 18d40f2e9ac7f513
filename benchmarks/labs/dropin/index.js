'use strict'

const path = require('node:path')
const { lab } = require('../../lib/run/lab')
const { list } = require('../../lib/servers/contenders')
const { underPm2 } = require('../../lib/servers/pm2')
const { missing } = require('./agents')
const { compared } = require('./compared')
const { prepare, workloads } = require('./workloads')

/*
 * What a Koa user gets by changing one line: apps of published packages, unmodified, on kone and on Koa. node is the
 * same by hand on node:http, for scale.
 */

lab(module, {
  name: 'dropin',
  contenders: list(require.resolve('./contenders')),
  view: require('./view'),

  probe (contender, { folder }) {
    const { workload, request, expected } = workloads.find(({ workload }) => workload === 'API')
    return { contender: { ...contender, args: [workload, folder] }, request, expected }
  },

  async measure (lab) {
    const folder = lab.folder()
    await prepare(folder)
    const load = { generator: lab.generator(), connections: 50, seconds: lab.options.quick ? 1 : 2 }
    await lab.inTime(workloads.map(({ workload, request, expected, contenders, floor, agent }) => ({
      name: workload,
      size: contenders.length,
      async act () {
        if (agent && missing()) return lab.miss(workload, missing())
        const taking = lab.contenders.filter(({ name }) => contenders.includes(name))
          .map(one => workload === 'pm2' ? underPm2(one, lab.options) : { ...one, args: [workload, folder] })
        await lab.group(taking, { workload, request, expected, reference: 'koa', check: compared(request), floor: floorOf(floor, folder) }, { [workload]: load })
      }
    })))
  }
})

const floorOf = ({ file } = {}, folder) => ({ folder, ...file && { file: path.join(folder, 'public', file) } })
