'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { superLinear } = require('../helpers/linear/growth')
const { random } = require('../helpers/random')

const KB = 1024
const UNIT = 500 // µs for 1 KB

// ms by KB of `Accept: a/b,a/b,…` on Node 20 beside other tests. Where it takes 20 ms, garbage collection begins to move objects.
const ACCEPT = { 1: 0.5, 8: 4.3, 16: 9, 32: 21.1, 64: 75.8, 128: 175.7, 256: 351, 1024: 1405 }

/** µs by size */
const LINEAR = {
  linear: size => UNIT * size / KB,
  'n log n': size => UNIT * size * Math.log2(size) / (10 * KB),
  'with two steps': size => interpolated(ACCEPT, size / KB) * 1000,
  ...Object.fromEntries([8, 16, 24, 32, 48, 64, 96, 128].map(at => [
    `with a step at ${at} KB`, size => UNIT * 3 * size / KB * (size > at * KB ? 1.9 : 1)
  ])),
  'quadratic, but never noticeable on the wire': size => 3000 * (size / (16 * KB)) ** 2
}

const STEEP = {
  'n to the power of 1.5': size => UNIT * (size / KB) ** 1.5,
  quadratic: size => UNIT * (size / KB) ** 2,
  'quadratic from 8 KB on': size => UNIT * size / KB * Math.max(1, size / (8 * KB)),
  cubic: size => UNIT * (size / KB) ** 3,
  exponential: size => UNIT * 2 ** (size / KB),
  // A limit of the code under test, in sizes that are measured to tell a step from growth.
  ...Object.fromEntries([33, 40, 48, 63, 64, 65, 100].flatMap(at => [
    [`quadratic, refused above ${at} KB`, size => size > at * KB ? 100 : UNIT * (size / KB) ** 2],
    [`quadratic, cut at ${at} KB`, size => UNIT * Math.min(size / KB, at) ** 2]
  ]))
}

function interpolated (table, x) {
  const points = Object.entries(table).map(([key, y]) => [Number(key), y])
  const i = Math.max(1, points.findIndex(([key]) => key >= x))
  const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]]
  return y0 * (y1 / y0) ** (Math.log(x / x0) / Math.log(x1 / x0))
}

describe('the growth of a cost', () => {
  for (const [name, cost] of Object.entries(LINEAR)) {
    it(`should be found linear: ${name}`, async t => {
      for (const noise of [0, 0.2, 1]) assert.equal(await superLinear(running(t, cost, noise)), undefined)
    })
  }

  for (const [name, cost] of Object.entries(STEEP)) {
    it(`should be found too fast: ${name}`, async t => {
      for (const noise of [0, 0.2]) assert.match(await superLinear(running(t, cost, noise)) ?? 'linear', /^\d+: [\d.]+ ms, /)
    })
  }
})

// A run that costs what the function says, and up to `noise` times more: CPU time is counted, not used.
function running (t, cost, noise) {
  const { next } = random(1)
  let used = 0
  t.mock.method(process, 'cpuUsage', (before = { user: 0, system: 0 }) => ({ user: used - before.user, system: 0 - before.system }))
  return size => { used += cost(size) * (1 + noise * next()) }
}
