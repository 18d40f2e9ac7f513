'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { contenders } = require('../../benchmarks/labs/battle')
const { autocannon } = require('../../benchmarks/lib/load/generators')
const { family, ticks } = require('../../command/measure/cpu')
const { verify } = require('../../benchmarks/lib/run/verify')
const Program = require('../../benchmarks/lib/servers/program')
const Server = require('../../benchmarks/lib/servers/server')
const { need } = require('../helpers/programs')

const SPARE = 2 // ticks, which are rounded for each process

describe('a contender in a cluster', () => {
  for (const name of ['kone', 'koa', 'node']) {
    it(`should respond by as many workers as its contender has: ${name}`, async () => {
      const contender = contenders.find(one => one.name === name)
      const server = await Server.start({ ...contender, workers: 2 }, { node: process.execPath })
      try {
        const { body } = await verify(server.port, {}, { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' })
        assert.equal(body, 'Hello World')
        if (process.platform === 'linux') assert.equal(family(server.pid).length, 3, 'a primary and two workers')
      } finally {
        await server.stop()
      }
    })
  }
})

// What is lost would be taken for that of other processes, and the machine not for quiet.
describe('the CPU time of a server that has ended', { skip: process.platform !== 'linux' && 'it is read from /proc' }, () => {
  const kone = contenders.find(one => one.name === 'kone')
  const { nginx } = require('../../benchmarks/labs/static/contenders')
  const SERVERS = {
    'one process': () => Server.start(kone, { node: process.execPath }),
    'a cluster': () => Server.start({ ...kone, workers: 2 }, { node: process.execPath }),
    nginx: () => Program.start({ name: 'nginx', program: nginx, given: { workers: 2 } }, {})
  }

  for (const [what, start] of Object.entries(SERVERS)) {
    const skip = what === 'nginx' && !need('nginx') && 'nginx is missing: apt-get install nginx'
    it(`should stay that of the lab: ${what}`, { skip }, async t => {
      const server = await start()
      const load = autocannon({})
      t.after(() => load.stop())
      let before
      try {
        await load.run({ port: server.port, connections: 10, seconds: 1 })
      } finally {
        before = ticks(process.pid)
        await server.stop()
      }
      const after = ticks(process.pid)
      assert.ok(after >= before - SPARE, `${before} ticks before the end, ${after} after it`)
    })
  }
})
