'use strict'

const cors = require('kone/middleware/cors')
const { BOOLEANS } = require('./values')

module.exports = {
  make: options => cors(options),
  options: {
    origin: [5, ['https://a.com'], /a/, true],
    allowMethods: [5, {}, [5]],
    exposeHeaders: [5, {}, [5]],
    allowHeaders: [5, {}, [5]],
    maxAge: [true, -1, NaN, 'a day', ['5']],
    credentials: ['yes', 1],
    keepHeadersOnError: BOOLEANS,
    secureContext: BOOLEANS,
    privateNetworkAccess: BOOLEANS
  }
}
