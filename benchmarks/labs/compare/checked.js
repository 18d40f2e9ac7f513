'use strict'

const net = require('node:net')
const { bytes } = require('../../lib/load/client')
const { headerDifferences, verify } = require('../../lib/run/verify')

/**
 * The response of a workload, verified: whole, as often as requests are pipelined, and with the headers of the first
 * contender's.
 *
 *    await checked({ port }, shape) // the response, as verify.js gives it
 *
 * @param {{ port: number }} server
 * @param {object} shape as shapes.js has it
 * @param {object} [first] the response of another contender
 * @throws {Error} what differs
 */
exports.checked = async function ({ port }, { request = {}, expected, load = {}, isOther }, first) {
  const { client, pipeline } = load
  if (client) {
    const { open } = require(client.file)[client.key]
    const found = await open({ port })
    const value = await found.call().finally(found.close)
    if (value !== load.expected.value) throw new Error(`its response is ${value}, not ${load.expected.value}`)
    return { bytes: null, headers: {} }
  }
  const response = await verify(port, request, expected)
  const differences = first && !isOther ? headerDifferences(response.headers, first.headers) : []
  if (differences.length) throw new Error(`its headers are not those of the other: ${differences.join(', ')}`)
  if (pipeline) await inPipeline({ port, ...request }, response.body, pipeline)
  return response
}

function inPipeline (request, body, depth) {
  return new Promise((resolve, reject) => {
    const [one] = bytes(request)
    const socket = net.connect(request.port, '127.0.0.1').setEncoding('latin1').setTimeout(10_000)
    const end = err => {
      socket.destroy()
      if (err) reject(err)
      else resolve()
    }
    let said = ''
    socket.on('data', chunk => {
      said += chunk
      const bodies = said.split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/).slice(1)
      if (bodies.length === depth && bodies.at(-1).length >= body.length) {
        end(bodies.every(one => one === body) ? null : new Error(`${depth} pipelined requests got ${JSON.stringify(said)}`))
      }
    })
    socket.on('timeout', () => end(new Error(`${depth} pipelined requests got ${JSON.stringify(said)}`))).on('error', end)
    socket.write(Buffer.concat(Array(depth).fill(one)))
  })
}
