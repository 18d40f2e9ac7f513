'use strict'

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
 * @api private
 */
function nearest (name, known) {
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

/**
 * Whether a name where others are allowed is a misspelt known one: one edit, or two of a long name; of a short one only
 * another order of its letters. `http2` is not a misspelt `http1`.
 *
 * @param {string} name
 * @param {string} known
 * @return {boolean}
 * @api private
 */
function isMisspelt (name, known) {
  [name, known] = [name.toLowerCase(), known.toLowerCase()]
  if (name === known) return true
  const letters = text => text.replace(/\d/g, '')
  if (letters(name) === letters(known)) return false
  if (known.length < 4) return [...name].sort().join() === [...known].sort().join()
  return editDistance(name, known) <= (known.length < 8 ? 1 : 2)
}

// How many letters are inserted, removed, replaced, or swapped with the next one. By hand because it is one function,
// and a package would count among those that an app installs.
function editDistance (from, to) {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = rows[i - 1][j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row.push(Math.min(replaced, rows[i - 1][j] + 1, row[j - 1] + 1, isSwapped ? rows[i - 2][j - 2] + 1 : Infinity))
    }
    rows.push(row)
  }
  return rows[from.length][to.length]
}

module.exports = { isMisspelt, nearest }
