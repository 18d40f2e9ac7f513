'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const share = require('../helpers/share')
const { SHAPES, make } = require('./instance')

const STOPS = share(2, 5)
const CLIENTS = 8

/** Requests, each with a connection of its own, until nobody listens. */
async function ask (port, found) {
  for (;;) {
    const code = await new Promise(resolve => {
      http.get({ host: '127.0.0.1', port, path: '/echo?id=1', agent: false }, res => {
        res.on('error', err => resolve(err.code)).on('end', () => resolve('served')).resume()
      }).on('error', err => resolve(err.code))
    })
    if (code === 'ECONNREFUSED') return
    found[code] = (found[code] ?? 0) + 1
  }
}

describe('a stop of two workers under eight clients', () => {
  it('should reset none, but for one that connects in the very moment', async t => {
    const found = { served: 0 }
    for (let stop = 0; stop < STOPS; stop++) {
      const instance = await make(t, 'node')
      instance.write(SHAPES.app)
      await instance.start()
      const before = found.served
      const clients = Array.from({ length: CLIENTS }, () => ask(instance.port, found))
      const { code, lines } = await instance.run('stop')
      assert.deepEqual({ code, lines }, { code: 0, lines: [] })
      await Promise.all(clients)
      assert(found.served > before)
    }
    const { served, ...failed } = found
    t.diagnostic(`${STOPS} stops, ${served} served, ${JSON.stringify(failed)}`)
    const resets = Object.values(failed).reduce((sum, count) => sum + count, 0)
    assert(resets <= STOPS, JSON.stringify(failed))
  })
})
