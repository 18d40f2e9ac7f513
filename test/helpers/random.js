'use strict'

/**
 * A seeded source of choices, so that a generated case that fails can be made again.
 *
 *    const rnd = random(1)
 *    rnd.pick(['a', 'b'])
 */
exports.random = function (seed) {
  let state = seed >>> 0

  // mulberry32
  function next () {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 0x100000000
  }

  return {
    next,
    int: limit => Math.floor(next() * limit),
    chance: share => next() < share,
    pick: list => list[Math.floor(next() * list.length)]
  }
}
