'use strict'

const fs = require('node:fs')

/**
 * How many processes a server needs to hold so many connections, by the descriptors that one may have open.
 *
 *    processesFor(50_000, 20_000) // 3
 */
exports.processesFor = function (connections, descriptors) {
  const SPARE = 500
  const UNEVEN = 0.9 // they do not get equally many
  const one = descriptors - SPARE
  return connections <= one ? 1 : Math.ceil(connections / (one * UNEVEN))
}

/** descriptors that a process may have open here */
exports.descriptors = function () {
  try {
    return Number(/^Max open files\s+\S+\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1]) || Infinity
  } catch {
    return 10_240 // macOS
  }
}
