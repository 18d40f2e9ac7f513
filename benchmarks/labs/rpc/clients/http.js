'use strict'

const { Client, bytes } = require('../../../lib/load/client')

/**
 * One keep-alive connection that sends the same POST again and again.
 *
 * @param {{ port: number, path: string, type: string, body: string }} load body in latin1
 * @return {Promise<{ call: () => Promise<string>, close: () => void }>} call gives the body, in latin1; it rejects
 *   with status and body where the status is not 200
 */
exports.open = async function ({ port, path, type, body }) {
  const request = bytes({ port, method: 'POST', path, headers: { 'Content-Type': type }, body })
  const client = await new Client({ port }, { keepsBody: true }).open()
  const call = () => new Promise((resolve, reject) => {
    client.request(request, isGood => {
      if (isGood) resolve(client.body)
      else if (client.status) reject(new Error(`${client.status} ${client.body}`))
      else reject(Object.assign(new Error('the connection was closed'), { gone: true }))
    })
  })
  return { call, close: () => client.destroy() }
}
