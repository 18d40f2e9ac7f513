'use strict'

const fs = require('node:fs')

const OFTEN = 10_000 // connections that are opened anew in every round

const OPENINGS = exports.OPENINGS = 3 // of more than these

/**
 * How often very many connections are opened, and the rounds of each opening: to make a hundred thousand takes longer
 * than to measure them.
 *
 *    openingsOf(1000, 6)    // { openings: 6, each: 1 }
 *    openingsOf(50_000, 6)  // { openings: 3, each: 2 }
 */
exports.openingsOf = (connections, rounds) =>
  connections > OFTEN ? { openings: OPENINGS, each: Math.ceil(rounds / OPENINGS) } : { openings: rounds, each: 1 }

/**
 * How many processes a server needs to hold so many connections, by the descriptors that one may have open.
 *
 *    processesFor(50_000, 20_000) // 3
 */
exports.processesFor = function (connections, descriptors) {
  const one = descriptors - 500 // for other files
  return connections <= one ? 1 : Math.ceil(connections / (one * 0.9)) // processes do not get equally many
}

/** descriptors that a process may have open here */
exports.descriptors = function () {
  try {
    return Number(/^Max open files\s+\S+\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1]) || Infinity
  } catch {
    return 10_240 // macOS
  }
}
