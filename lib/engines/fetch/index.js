'use strict'

const { Outgoing } = require('./outgoing')

/**
 * Make the `fetch` of one app: a web Request in, a promise of a web Response out. No server and no
 * socket take part; node's own `req` and `res` are created when code reads them (./node.js).
 *
 * @param {import('../host').Host} host the app
 * @return {Function} `(request, info) => Promise<Response>`; rejects for anything that is not a usable Request
 * @api private
 */
module.exports = function makeFetch (host) {
  return (request, info) => new Promise((resolve, reject) => {
    const outgoing = new Outgoing(host, request, info, resolve, reject)
    outgoing.watch()
    try {
      // only a ctx.onerror of the app's own rejects
      host.dispatch(outgoing.incoming, outgoing)?.then(undefined, err => outgoing.lose(err))
    } catch (err) {
      outgoing.lose(err)
    }
  })
}
