'use strict'

const { createRequire } = require('module')
const { dirname, join } = require('path')

/**
 * http-errors, also for the middleware set. With `--disallow-code-generation-from-strings` node cannot load it, because
 * depd makes a function of text for each deprecated name: then it gets depd's build for browsers, which makes none.
 */
module.exports = load()

function load () {
  try {
    return require('http-errors')
  } catch (err) {
    if (!(err instanceof EvalError)) throw err
    const restore = replaceDepd(err)
    try {
      return require('http-errors')
    } finally {
      restore()
    }
  }
}

/** @return {Function} that undoes it */
function replaceDepd (err) {
  try {
    const ofHttpErrors = createRequire(createRequire(__filename).resolve('http-errors'))
    const { cache } = ofHttpErrors
    const depd = ofHttpErrors.resolve('depd')
    const browsers = join(dirname(depd), 'lib/browser/index.js')
    ofHttpErrors(browsers)
    /* eslint-disable kone/owners -- node's, while http-errors is loaded */
    const before = cache[depd]
    cache[depd] = cache[browsers]
    return () => { cache[depd] = before }
  } catch {
    throw err // in a bundle, which has depd in itself
  }
}
