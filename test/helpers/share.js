'use strict'

const { KONE_TESTS } = process.env

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
 *    KONE_TESTS=long node test/run.js test/security/linear.test.js
 */
module.exports.long = function long (few, all) {
  return KONE_TESTS === 'long' ? all : few
}
