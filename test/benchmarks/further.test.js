'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { contenders } = require('../../benchmarks/labs/mw')
const { FURTHER, WITHOUT_TWIN } = require('../../benchmarks/labs/mw/further')
const { verify } = require('../../benchmarks/lib/run/verify')
const Server = require('../../benchmarks/lib/servers/server')

for (const name of ['kone', 'koa']) {
  describe(`the further middleware of mw on ${name}`, () => {
    const workloads = Object.keys(FURTHER).filter(workload => name === 'kone' || !WITHOUT_TWIN.has(workload))
    const servers = new Map()
    before(() => Promise.all(workloads.map(async workload => {
      const contender = contenders.find(one => one.name === name)
      servers.set(workload, await Server.start({ ...contender, args: [workload] }, { node: process.execPath }))
    })))
    after(() => Promise.all([...servers.values()].map(server => server.stop())))

    for (const workload of workloads) {
      it(`should do its work: ${workload}`, async () => {
        const { request = {}, expected } = FURTHER[workload]
        const { status } = await verify(servers.get(workload).port, request, { status: 200, ...expected })
        assert.equal(status, 200)
      })
    }
  })
}
