'use strict'

const { makeCertificate } = require('../../lib/servers/certificate')

/**
 * How requests reach a server that is deployed: workload → load. Of what stands in front of it nothing is counted. Behind nginx
 * the rate is fixed: a closed loop does not saturate the server, so that a faster one has more turns of its event loop, which it
 * pays for (kone ÷ Koa was 0.62 to 0.99 in six rounds).
 */
const BEHIND = { generator: 'nginx', connections: 50, rate: 5000 }
const LOADS = exports.LOADS = {
  'nginx with its defaults': BEHIND,
  'nginx kept, 1.1': { ...BEHIND, isKept: true },
  'HTTP/1.0 close (ab)': { generator: 'wrk', version: '1.0', connections: 50 }
}

const TLS = 'a TLS connection per request'

exports.WORKLOADS = [...Object.keys(LOADS), TLS]

/**
 * Parts for `lab.inTime`.
 *
 * @param {Session} lab
 * @param {{ contenders: object[], question: object, seconds: number }} what question: as `lab.start` takes it, but for its
 *   workload; over TLS a contender has one more argument, a folder with a certificate
 */
exports.deployed = function (lab, { contenders, question, seconds }) {
  const generators = lab.generators(['nginx', 'wrk'])
  const loads = Object.entries(LOADS).filter(([, { generator }]) => generators[generator])
    .map(([name, load]) => [name, { ...load, seconds }])
  const size = contenders.length * seconds
  const parts = loads.length ? [{ name: loads.map(([name]) => name).join(', '), size: size * loads.length, act: overHttp }] : []
  return generators.wrk ? [...parts, { name: TLS, size, act: overTLS }] : []

  async function overHttp () {
    await lab.group(contenders, { workload: loads[0][0], ...question }, Object.fromEntries(loads))
  }

  async function overTLS () {
    const folder = lab.folder()
    await makeCertificate(folder)
    const request = { protocol: 'https', headers: { connection: 'close' } }
    const secure = contenders.map(one => ({ ...one, args: [...one.args ?? [], folder] }))
    await lab.group(secure, { workload: TLS, ...question, request }, { [TLS]: { generator: 'wrk', connections: 50, seconds } })
  }
}
