'use strict'

const path = require('node:path')
const { lab } = require('../../lib/run/lab')
const { workloadsOf } = require('../../lib/run/options')
const { headerDifferences, verify } = require('../../lib/run/verify')
const { list } = require('../../lib/servers/contenders')
const { underPm2 } = require('../../lib/servers/pm2')
const { isInstalled } = require('../../../test/compat/real/applications')
const { missing } = require('./agents')
const { verifying, withInstalled } = require('./applications')
const { prepare, workloads } = require('./workloads')

lab(module, {
  name: 'dropin',
  contenders: list(require.resolve('./contenders')),
  options: {
    workloads: { value: 'a;b', help: 'only these workloads' },
    sockets: { help: 'raw sockets send the load, as in kone try --measure, in place of wrk' }
  },
  view: require('./view'),

  async measure (lab) {
    const names = workloadsOf('dropin', lab.options.workloads, workloads.map(({ workload }) => workload))
    if (lab.options.workloads) lab.result.derived.only = names
    const folder = lab.folder()
    await prepare(folder)
    const { sockets } = lab.options
    if (sockets) lab.result.derived.only = [...names, 'sockets']
    const load = { generator: lab.generator(sockets ? ['sockets'] : undefined), connections: 50, seconds: lab.options.quick ? 1 : 2 }
    await lab.inTime(workloads.filter(({ workload }) => names.includes(workload)).map(({ workload, contenders, ...how }) => ({
      name: workload,
      size: contenders.length,
      act () {
        const taking = lab.contenders.filter(({ name }) => contenders.includes(name))
        return measured(lab, { workload, ...how }, taking, folder, { [workload]: load })
      }
    })))
  }
})

async function measured (lab, { workload, request, expected, floor, agent, app }, contenders, folder, loads) {
  const { quick, workloads: named } = lab.options
  if (agent && missing()) return lab.miss(workload, missing())
  if (app && quick && !named && !isInstalled(app)) return lab.miss('what make compat installs', 'make compat')
  const question = { workload, request, expected, reference: 'koa' }
  if (app) {
    return withInstalled(lab, app, contenders, taking =>
      lab.group(taking, { ...question, check: verifying(app, request) }, loads))
  }
  const taking = contenders.map(one => workload === 'pm2' ? underPm2(one, lab.options) : { ...one, args: [workload, folder] })
  return lab.group(taking, { ...question, check: asKoa(request), floor: floorOf(floor, folder) }, loads)
}

/**
 * How the responses of a workload are verified: each has the status, type and body that are expected, and kone's has every
 * header of Koa's, who comes first, and no other. node's may have fewer: it is by hand.
 */
function asKoa (request) {
  let koa
  return async function check ({ name, port }, expected) {
    const response = await verify(port, request, expected)
    if (name === 'koa') koa = response
    const differences = koa && name.startsWith('kone') ? headerDifferences(response.headers, koa.headers) : []
    if (differences.length) throw new Error(`its headers are not koa's: ${differences.join(', ')}`)
    return response
  }
}

const floorOf = ({ file } = {}, folder) => ({ folder, ...file && { file: path.join(folder, 'public', file) } })
