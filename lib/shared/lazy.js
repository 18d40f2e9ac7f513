'use strict'

/**
 * A module that is loaded when it is first needed: `require('kone')` takes half as long as with all packages.
 *
 *    const accepts = lazy(() => require('accepts'))
 *    accepts()(req)
 *
 * @param {Function} load with a plain call of `require`, which bundlers find
 * @return {Function} returns the module
 */
module.exports = function lazy (load) {
  let loaded
  return () => (loaded ??= load())
}
