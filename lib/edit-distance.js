'use strict'

/**
 * How many letters are inserted, removed, replaced, or swapped with the next one.
 *
 *    editDistance('kyes', 'keys')   // 1
 *
 * By hand because it is one function, and a package would count among those that an app installs.
 *
 * @param {string} from
 * @param {string} to
 * @return {number}
 * @api private
 */
module.exports = function editDistance (from, to) {
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
