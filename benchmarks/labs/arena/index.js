'use strict'

const { lab } = require('../../lib/run/lab')
const { list } = require('../../lib/servers/contenders')
const { prepare } = require('./data')
const { PROFILES, check, hasFloor, loadOf } = require('./profiles')

/*
 * A table of profiles: the same app in each framework, as its users write it, under seven kinds of load.
 */

const mixed = { requests: PROFILES.mixed.requests }

lab(module, {
  name: 'arena',
  contenders: list(require.resolve('./contenders')),
  view: require('./view'),

  probe (contender, { folder }) {
    prepare(folder)
    return { contender: { ...contender, args: [folder] }, expected: mixed, check }
  },

  async measure (lab) {
    const folder = lab.folder()
    prepare(folder)
    const generators = lab.generators(['wrk', 'autocannon', 'pooled'])
    const seconds = lab.options.quick ? 1 : 2
    const contenders = lab.contenders.map(one => ({ ...one, args: [folder] }))
    await lab.inTime(Object.entries(PROFILES).map(([workload, profile]) => ({
      name: workload,
      act () {
        const load = { ...loadOf(profile), seconds }
        if (!generators[load.generator]) load.generator = 'autocannon'
        const { requests } = profile
        const [{ path, headers }] = requests
        const floor = hasFloor(profile) ? {} : undefined
        const question = { workload, request: { path, headers }, expected: { requests }, reference: 'node', check, floor }
        return lab.group(contenders, question, { [workload]: load })
      }
    })))
  }
})
