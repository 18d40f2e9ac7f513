'use strict'

/** V8 copies shorter parts of a string; a longer one refers to the whole string and keeps it in memory. */
const SHORTEST_SLICE = 13

/**
 * A part of a string that does not keep the whole string in memory.
 *
 *    detach(text.slice(4, 40))
 *
 * Joining and slicing makes V8 copy the characters into a string of their own: 44 ns, a third of the way
 * through a Buffer.
 *
 * @param {string} part
 * @return {string} the same characters
 */
module.exports = part => part.length < SHORTEST_SLICE ? part : (' ' + part).slice(1)
