'use strict'

const methods = require('./methods')
const guarded = require('./guarded')
const hessian = require('./hessian')

/*
 * What node and koa need to do by hand what kone/middleware/rpc does.
 */

exports.calls = new Map([
  ['/rpc/ping', methods.ping],
  ['/rpc/parse', methods.parse],
  ['/guarded/noError', guarded(methods.noError)],
  ['/guarded/asyncError', guarded(methods.asyncError)]
])

exports.codecs = new Map([
  ['application/json', { decode: JSON.parse, encode: JSON.stringify }],
  [hessian.type, hessian]
])

/**
 * The body of a request.
 *
 * @param {import('node:http').IncomingMessage} req
 * @return {Promise<Buffer>}
 */
exports.read = req => new Promise((resolve, reject) => {
  const chunks = []
  req.on('data', chunk => chunks.push(chunk))
  req.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
  req.on('error', reject)
})
