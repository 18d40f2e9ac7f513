'use strict'

const assert = require('node:assert/strict')
const { it } = require('node:test')
const share = require('../../helpers/share')
const { GROWTH, soak } = require('./siege/run')

// `make soak` sends a million requests.
const CLIENTS = { seed: 1, connections: 300, width: share(75, 150) }

it('should leave neither timers nor a growing heap behind the clients of a siege', async t => {
  const heaps = await soak(CLIENTS)
  t.diagnostic(JSON.stringify(heaps))
  const [node, front] = heaps
  assert(front.growth <= Math.max(GROWTH, node.growth), `${front.growth} bytes per 1,000 connections`)
  assert.equal(front.timers, 0)
})
