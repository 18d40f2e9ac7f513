'use strict'

const fs = require('node:fs')
const path = require('node:path')

const TEXT = fs.readFileSync(path.join(__dirname, '../../../lib/front/README.md'), 'utf8')

/**
 * The rows of a table of lib/front/README.md: what its first column names has a test by the same name.
 *
 *    rows('Known differences', 'Difference') // [['Many pipelined requests', '…', '…'], …], without backticks in the first
 */
exports.rows = function (section, first) {
  const [, part] = TEXT.split(`\n## ${section}\n`)
  const lines = part.split('\n## ')[0].split('\n')
  const start = lines.findIndex(line => line.startsWith(`| ${first} |`))
  if (start < 0) throw new Error(`no table that begins with "${first}" in "${section}"`)
  const rows = lines.slice(start + 2)
  return rows.slice(0, rows.findIndex(line => !line.startsWith('|'))).map(line => {
    const [name, ...cells] = line.split('|').slice(1, -1).map(cell => cell.trim())
    return [name.replaceAll('`', ''), ...cells]
  })
}
