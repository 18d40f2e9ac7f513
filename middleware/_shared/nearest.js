'use strict'

/**
 * The known name that a misspelt one probably means.
 *
 *    nearest('stroe', ['key', 'store'])   // 'store'
 *    nearest('colour', ['key', 'store'])  // undefined
 *
 * By hand because it is one function, and a package for it would count among those that an app
 * installs.
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
    const count = edits(name.toLowerCase(), candidate.toLowerCase())
    if (count >= fewest || count >= candidate.length) continue
    fewest = count
    best = candidate
  }
  return best
}

/**
 * The Levenshtein distance: how many letters are inserted, removed or replaced.
 */
function edits (from, to) {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = above[column - 1] + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, above[column] + 1, current[column - 1] + 1))
    }
    above = current
  }
  return above[to.length]
}
