'use strict'

const worker = require('./worker')

/**
 * autocannon as a generator, in a process of its own that is kept from round to round: one that starts
 * anew each time would measure its own start.
 */
module.exports = ({ pin }) => worker(require.resolve('./autocannon-worker'), { pin })

module.exports.missing = function () {
  try {
    require.resolve('autocannon')
    return null
  } catch {
    return 'npm install in benchmarks/'
  }
}
