'use strict'

/** V8 copies shorter parts of a string; a longer one refers to the whole string and keeps it in memory. */
const SHORTEST_SLICE = 13

/**
 * Copies a substring, so that the whole string can be freed.
 *
 *    detach(text.slice(4, 40))
 *
 * Joining and slicing makes V8 copy the characters: 44 ns, a third of what a copy through a Buffer costs.
 *
 * @param {string} part
 * @return {string} the same characters
 */
module.exports = part => part.length < SHORTEST_SLICE ? part : (' ' + part).slice(1)
