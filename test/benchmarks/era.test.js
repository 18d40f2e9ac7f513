'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { kept } = require('../../benchmarks/lib/servers/binaries')
const { list } = require('../../benchmarks/lib/servers/contenders')
const Server = require('../../benchmarks/lib/servers/server')
const { verify } = require('../../benchmarks/lib/run/verify')

const file = require.resolve('../../benchmarks/labs/battle/contenders-2017')

describe('the floor of 2017', () => {
  for (const version of ['6.9.2', '7.6.0']) {
    const found = kept(version)
    it(`should respond on Node ${version}`, { skip: found ? false : `Node ${version} is not in the cache` }, async () => {
      const server = await Server.start(list(file, { only: ['node'] })[0], { node: found.file })
      try {
        const { body } = await verify(server.port, {}, { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' })
        assert.equal(body, 'Hello World')
      } finally {
        await server.stop()
      }
    })
  }
})
