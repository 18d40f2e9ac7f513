'use strict'

const { headerDifferences, verify } = require('../../lib/run/verify')

/**
 * How the responses of a workload are verified: each has the status, type and body that are expected, and kone's has
 * every header of Koa's and no other. node's may have fewer: it is by hand.
 *
 *    lab.start(contenders, { workload, request, expected, check: compared(request) }) // koa comes first
 */
exports.compared = function (request) {
  let koa
  return async function check ({ name, port }, expected) {
    const response = await verify(port, request, expected)
    if (name === 'koa') koa = response
    const differences = koa && name.startsWith('kone') ? headerDifferences(response.headers, koa.headers) : []
    if (differences.length) throw new Error(`its headers are not koa's: ${differences.join(', ')}`)
    return response
  }
}
