'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { save } = require('../../../benchmarks/lib/run/result')
const { page } = require('./table')

/** What is committed: the results, and the page that is made of them. */
const RESULTS = exports.RESULTS = path.join(__dirname, '../results.json')
const PAGE = exports.PAGE = path.join(__dirname, '../README.md')

/**
 * The committed results, one object per app.
 *
 * @return {object[]} `{ name, title, order?, koa, packages, responses, same, differs?, error?, cost? }`, cost: of cost.js
 */
const read = exports.read = () => fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, 'utf8')) : []

/**
 * The results of this run; what was not run keeps what an earlier run found.
 *
 *    merge(apps, [{ name: 'rest', … }], read())
 *
 * @param {{ name: string, title: string, order?: number }[]} apps all of them: an app that is gone has no row
 * @param {object[]} fresh
 * @param {object[]} earlier
 * @return {object[]} in the order of the page
 */
const merge = exports.merge = function (apps, fresh, earlier) {
  return apps
    .map(({ name, title, order }) => ({ ...[...fresh, ...earlier].find(one => one.name === name), name, title, order }))
    .sort((a, b) => (a.order ?? 0) - (b.order ?? 0) || (a.name < b.name ? -1 : 1))
}

/**
 * Writes the results and the page.
 *
 * @param {object[]} apps
 * @param {object[]} fresh
 */
exports.write = function (apps, fresh) {
  const results = merge(apps, fresh, read())
  save(RESULTS, `${JSON.stringify(results, null, 1)}\n`)
  save(PAGE, page(results))
}
