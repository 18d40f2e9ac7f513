'use strict'

const { sample } = require('../plan')

const { KONE_TESTS, KONE_SEED = 'none' } = process.env

/**
 * A small share of what an oracle can try, the same in every run of `make test`; all of it in `make test-all`.
 *
 *    const SEEDS = share(3, 100)
 *
 * @param {*} few
 * @param {*} all
 * @return {*} one of them
 */
module.exports = function share (few, all) {
  return KONE_TESTS === 'all' || KONE_TESTS === 'long' ? all : few
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
  return sample(names, KONE_TESTS === 'long' ? 'whole' : KONE_SEED, 1 / 3)
}
