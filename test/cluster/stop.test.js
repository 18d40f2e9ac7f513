'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const share = require('../helpers/share')
const { SHAPES, make } = require('./instance')

const STOPS = share(2, 5)
const MOST = 9 // the system can interrupt the primary in the very moment
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
  it('should reset none, in most stops', async t => {
    const found = { served: 0 }
    const resets = () => Object.values(found).reduce((sum, count) => sum + count, 0) - found.served
    let stops = 0
    let bad = 0
    for (; stops < STOPS || (stops < MOST && bad > stops / 2); stops++) {
      const instance = await make(t, 'node')
      instance.write(SHAPES.app)
      await instance.start()
      const [before, resetBefore] = [found.served, resets()]
      const clients = Array.from({ length: CLIENTS }, () => ask(instance.port, found))
      const { code, lines } = await instance.run('stop')
      assert.deepEqual({ code, lines }, { code: 0, lines: [] })
      await Promise.all(clients)
      assert(found.served > before)
      if (resets() > resetBefore) bad++
    }
    t.diagnostic(`${stops} stops, ${JSON.stringify(found)}`)
    assert(bad <= stops / 2, `${bad} of ${stops} stops: ${JSON.stringify(found)}`) // without the queue some two clients in each
  })
})
