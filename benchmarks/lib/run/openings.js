'use strict'

const OFTEN = 10_000 // connections that are opened anew in every round

/** How often more connections than these are opened. */
const OPENINGS = exports.OPENINGS = 3

/**
 * How often very many connections are opened, and the rounds of each opening: to make a hundred thousand takes longer
 * than to measure them.
 *
 *    openingsOf(1000, 8)    // { openings: 8, each: 1 }
 *    openingsOf(50_000, 8)  // { openings: 3, each: 3 }
 */
exports.openingsOf = (connections, rounds) =>
  connections > OFTEN ? { openings: OPENINGS, each: Math.ceil(rounds / OPENINGS) } : { openings: rounds, each: 1 }
