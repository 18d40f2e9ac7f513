'use strict'

const { Duplex } = require('node:stream')

const Kone = require('./kone')

/**
 * A ctx over the fakes that users of Koa write in their unit tests: `req` is a plain object,
 * `res` has three header methods over `_headers` and nothing else.
 *
 *    const ctx = context({ headers: { host: 'example.com' } })
 */
function context (req, res, app = new Kone()) {
  const socket = Object.assign(new Duplex(), { remoteAddress: '127.0.0.1' })

  return app.createContext(
    { headers: {}, socket, ...req },
    { ...fakeResponse(), socket, ...res }
  )
}

function fakeResponse () {
  const _headers = {}

  return {
    _headers,
    getHeader: name => _headers[name.toLowerCase()],
    setHeader: (name, value) => { _headers[name.toLowerCase()] = value },
    removeHeader: name => { delete _headers[name.toLowerCase()] }
  }
}

module.exports = context
module.exports.request = (...args) => context(...args).request
module.exports.response = (...args) => context(...args).response
