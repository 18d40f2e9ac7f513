'use strict'

const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const wrk = require('../../benchmarks/lib/load/wrk')

describe('wrk', { skip: wrk.missing() ?? false }, () => {
  it('should reject with a sentence when no response comes, so that the round is measured again', async () => {
    const sockets = new Set()
    const silent = net.createServer(socket => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    try {
      const load = { port: silent.address().port, connections: 2, seconds: 1 }
      await assert.rejects(wrk({}).run(load), { message: 'no response came in 1 s' })
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })
})
