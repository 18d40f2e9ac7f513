'use strict'

const { connect, get } = require('../../lib/load/h2-worker')
const { headerDifferences, verify } = require('../../lib/run/verify')
const { record } = require('../../lib/servers/floor')

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
  const { generator, pipeline } = load
  if (generator === 'h2') {
    const session = connect(port)
    const found = await get(session).finally(() => session.destroy())
    if (found !== `${expected.status} ${expected.body}`) throw new Error(`its response is ${found}`)
    return { bytes: null, headers: {} }
  }
  const response = await verify(port, request, expected)
  const differences = first && !isOther ? headerDifferences(response.headers, first.headers) : []
  if (differences.length) throw new Error(`its headers are not those of the other: ${differences.join(', ')}`)
  if (!pipeline) return response
  const isWhole = said => {
    const bodies = String(said).split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/).slice(1)
    return bodies.length === pipeline && bodies.every(body => body === response.body)
  }
  const said = await record({ port, ...request }, { depth: pipeline, isWhole })
  if (!isWhole(said)) throw new Error(`${pipeline} pipelined requests got ${JSON.stringify(String(said))}`)
  return response
}
