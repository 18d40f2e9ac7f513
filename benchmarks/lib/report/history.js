'use strict'

/*
 * docs/reports/history.json: the ratios of every result that was committed, so that a page can show how they went on
 * after a newer result has replaced the older one.
 */

/**
 * The history with the newest results in it. A quick run is left out.
 *
 * @param {object[]} history entries `{ lab, node, commit, date, ratios }`
 * @param {Map<string, Figures[]>} labs
 * @param {object[]} templates of pages/, whose `trend` names the ratios
 * @return {object[]} the oldest first
 */
exports.extended = function (history, labs, templates) {
  const entries = [...history]
  for (const { lab, trend = [] } of templates) {
    for (const figures of labs.get(lab) ?? []) {
      const { date, commit, derived } = figures.result
      if (derived?.quick || derived?.only) continue
      const ratios = Object.fromEntries(trend.map(({ what, of }) => [what, spreadOf(of(figures))]).filter(([, spread]) => spread))
      const entry = { lab, node: figures.node, commit: commit?.hash ?? null, date, ratios }
      const known = entries.findIndex(one => one.lab === lab && one.node === figures.node && one.date === date)
      if (known < 0) entries.push(entry)
      else entries[known] = entry
    }
  }
  return entries.sort((a, b) => Date.parse(a.date) - Date.parse(b.date))
}

/**
 * The entries of a lab by major version of Node, the newest version first.
 *
 * @param {object[]} history
 * @param {string} lab
 * @return {[number, object[]][]} only versions with entries of two commits at least
 */
exports.of = function (history, lab) {
  const majors = new Map()
  for (const entry of history.filter(one => one.lab === lab)) {
    const major = parseInt(entry.node)
    majors.set(major, [...majors.get(major) ?? [], entry])
  }
  return [...majors]
    .filter(([, entries]) => new Set(entries.map(({ commit }) => commit)).size > 1)
    .sort(([a], [b]) => b - a)
}

const spreadOf = spread => spread && { median: spread.median, min: spread.min, max: spread.max }
