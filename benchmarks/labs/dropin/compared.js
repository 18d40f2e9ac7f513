'use strict'

const { isDeepStrictEqual } = require('node:util')
const { verify } = require('../../lib/run/verify')

const CHANGING = new Set(['date', 'set-cookie', 'x-response-time'])

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
    const differences = koa && name.startsWith('kone') ? differing(response.headers, koa.headers) : []
    if (differences.length) throw new Error(`its headers are not koa's: ${differences.join(', ')}`)
    return response
  }
}

function differing (headers, reference) {
  return [...new Set([...Object.keys(headers), ...Object.keys(reference)])]
    .filter(name => !CHANGING.has(name) && !isDeepStrictEqual(headers[name], reference[name]))
    .map(name => `${name} is ${JSON.stringify(headers[name])}, not ${JSON.stringify(reference[name])}`)
}
