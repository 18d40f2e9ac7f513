'use strict'

const fs = require('node:fs')
const { availableParallelism, tmpdir } = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { list } = require('../../benchmarks/lib/servers/contenders')
const Program = require('../../benchmarks/lib/servers/program')
const Server = require('../../benchmarks/lib/servers/server')
const { verify } = require('../../benchmarks/lib/run/verify')
const { install } = require('../helpers/area')
const share = require('../helpers/share')

const LABS = path.join(__dirname, '../../benchmarks/labs')

/*
 * Every contender of every lab is started as the lab starts it, and responds once as the lab requires: in make test
 * those that need no package but the checkout's. Those that cannot be had on this machine are skipped with the reason.
 */

const isHere = ({ name }) => ['kone', 'koa', 'node'].includes(name)
before(share(() => {}, () => { install('../benchmarks') }))

const labs = fs.readdirSync(LABS).filter(name => fs.existsSync(path.join(LABS, name, 'index.js')))
  .map(name => require(path.join(LABS, name)))

for (const { name, contenders, probe } of labs) {
  describe(`the contenders of ${name}`, { concurrency: availableParallelism() * 2 }, () => {
    const folders = []
    after(() => { for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true }) })

    for (const one of share(contenders.filter(isHere), contenders)) {
      const skip = one.program ? share('in make test-all: it is compiled or installed', one.program.missing() ?? false) : false
      it(`should start ${one.name}`, { skip }, async t => {
        const folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-contender-'))
        folders.push(folder)
        const found = probe(one, { folder })
        if (!found) return t.skip('it needs more than this machine has')
        const { contender, request = {}, expected, check = overHttp } = found
        const server = await (contender.program ? Program : Server)
          .start(contender, { node: contender.node ?? process.execPath, flags: contender.flags })
        try {
          server.request = typeof request === 'function' ? await request(server) : request
          await check(server, expected)
          assert.match(one.version(process.version), /\d+\.\d+|EXTRA/)
        } finally {
          await server.stop()
        }
      })
    }
  })
}

describe('a middleware alone', { concurrency: 2 }, () => {
  const { ALONE } = require('../../benchmarks/labs/mw/workloads')
  for (const workload of share(['session alone, 100 KB', 'overload alone', 'rpc alone'], Object.keys(ALONE))) {
    const { hasTwin, request = {}, expected } = ALONE[workload]
    for (const one of list(path.join(LABS, 'mw/contenders.js'), { only: hasTwin ? ['kone', 'koa'] : ['kone'] })) {
      it(`should respond as expected: ${workload}, ${one.name}`, async () => {
        const server = await Server.start({ ...one, args: [workload] }, { node: process.execPath })
        try {
          await verify(server.port, typeof request === 'function' ? await request(server) : request, expected)
        } finally {
          await server.stop()
        }
      })
    }
  }
})

describe('the contenders of a table', () => {
  const file = path.join(LABS, 'battle/contenders.js')

  it('should be its entries in their order, or those that are named', () => {
    assert.deepEqual(list(file).map(({ name }) => name), Object.keys(require(file)))
    assert.deepEqual(list(file, { only: ['koa', 'kone'] }).map(({ name }) => name), ['koa', 'kone'])
  })

  it('should not be loaded by the lab', () => {
    list(file)
    assert.deepEqual(Object.keys(require.cache).filter(file => /benchmarks\/node_modules\/(koa|express|fastify)\//.test(file)), [])
  })
})

const overHttp = ({ port, request }, expected) => verify(port, request, expected)
