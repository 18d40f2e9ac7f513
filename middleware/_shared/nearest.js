'use strict'

const editDistance = require('../../lib/edit-distance')

/**
 * The known name that a misspelt one probably means.
 *
 *    nearest('stroe', ['key', 'store'])   // 'store'
 *    nearest('colour', ['key', 'store'])  // undefined
 *
 * @param {string} name
 * @param {string[]} known
 * @return {string|undefined} the name with the fewest edits, at most a third of its letters (but two
 *   of a short one)
 */
module.exports = function nearest (name, known) {
  let best
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const count = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (count >= fewest || count >= candidate.length) continue
    fewest = count
    best = candidate
  }
  return best
}
