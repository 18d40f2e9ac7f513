'use strict'

const fs = require('node:fs')
const path = require('node:path')

const FILE = path.join(__dirname, '../../../test/compat/results.json')

/**
 * The whole frameworks and applications that test/compat measured, as the result of a lab: for README.md as long as the
 * lab dropin has no row of a whole framework.
 *
 * @return {object[]} one result, or none
 */
module.exports = function () {
  const measured = fs.existsSync(FILE) ? JSON.parse(fs.readFileSync(FILE, 'utf8')).filter(({ cost }) => cost) : []
  if (!measured.length) return []
  const [{ cost }] = [...measured].sort((a, b) => Date.parse(a.cost.date) - Date.parse(b.cost.date)) // the oldest stands for all
  const rows = measured.flatMap(({ title, cost }) => cost.rows.map(row => ({ ...row, workload: title })))
  return [{ ...cost, lab: 'applications', contenders: [], missing: [], skipped: [], rows, derived: { quick: false, remarks: [], responses: [] } }]
}
