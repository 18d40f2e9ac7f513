'use strict'

const { createHash } = require('node:crypto')
const { sample } = require('../plan')

const { KONE_TESTS, KONE_SEED } = process.env
const SEED = KONE_TESTS === 'long' ? 'whole' : KONE_SEED

/**
 * A small share of what an oracle can try, the same in every run of `make test`; more of it in `make test-all`, all of it
 * with KONE_TESTS=long.
 *
 *    const SEEDS = share(3, 10, 100)
 *
 * @param {*} few
 * @param {*} more
 * @param {*} [all]
 * @return {*} one of them
 */
module.exports = function share (few, more, all = more) {
  return { all: more, long: all }[KONE_TESTS] ?? few
}

/**
 * The same for what takes so long that `make test-all` has the small share, too.
 *
 *    KONE_TESTS=long node test/run.js test/security/linear.once.long.measure.test.js
 */
module.exports.long = function long (few, all) {
  return KONE_TESTS === 'long' ? all : few
}

/**
 * A third of what takes long and is much alike, another third for each commit; all of it by KONE_SEED=whole.
 *
 *    for (const page of share.third(pages)) …
 *
 * @param {string[]} names
 * @return {string[]}
 */
module.exports.third = function third (names) {
  return sample(names, SEED ?? 'none', 1 / 3)
}

/**
 * One of a few that are much alike, another one for each commit and each title; all of them by KONE_SEED=whole, and where a
 * file runs by itself.
 *
 *    for (const name of share.one(['rollup', 'ncc'])) …
 *
 * @param {Array} list
 * @param {string} [title]
 * @return {Array}
 */
module.exports.one = function one (list, title = '') {
  return (SEED ?? 'whole') === 'whole' ? list : [list[createHash('sha256').update(SEED + title).digest().readUInt32BE() % list.length]]
}
