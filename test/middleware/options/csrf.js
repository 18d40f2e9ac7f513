'use strict'

const csrf = require('kone/middleware/csrf')
const { BOOLEANS, FUNCTIONS } = require('./values')

module.exports = {
  make: options => csrf(options),
  options: {
    errorHandler: FUNCTIONS,
    excludedMethods: ['GET', [5]],
    disableQuery: BOOLEANS,
    ignoredPathGlobs: ['/x', [/x/], ['/{a,b'], ['/+(a|b)'], ['/[z-a]']],
    secretLength: ['18', 15, 18.5],
    invalidTokenMessage: ['no'], // of koa-csrf 3
    invalidTokenStatusCode: [400]
  }
}
