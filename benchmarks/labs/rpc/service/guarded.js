'use strict'

const domain = require('node:domain') // eslint-disable-line n/no-deprecated-api -- the report's way

/**
 * Isolation by hand, as the first report had it: a domain per call, so that an error thrown outside every
 * promise fails that call alone.
 *
 * @param {Function} method
 * @return {AsyncFunction} sofa-rpc-node takes no other
 */
module.exports = method => async (...args) => new Promise((resolve, reject) => {
  const isolated = domain.create()
  isolated.on('error', reject)
  isolated.run(() => Promise.resolve(method(...args)).then(resolve, reject))
})
