'use strict'

const http = require('node:http')
const { send } = require('../../lib/servers/send')

/*
 * What a request by `app.fetch(new Request())` costs, without a server: a server makes many of them for each request of the
 * load, so that what the load costs is nothing beside them.
 */

const CALLS = 200

/** The server that makes them. */
exports.inProcess = app => http.createServer(async (req, res) => {
  let text
  for (let i = 0; i < CALLS; i++) text = await (await app.fetch(new Request('http://localhost/'))).text()
  send(res, 'text/plain; charset=utf-8', text)
})

/** Measure contenders of `inProcess`, whose rows are of one call. */
exports.fetches = async function (lab, contenders, { workload, expected, load }) {
  const servers = await lab.start(contenders, { workload, expected })
  const cells = servers.map(server => ({ workload, server, load }))
  for (const cell of cells) await lab.warm(cell, load.seconds)
  await lab.rounds(cells, {
    visit: async cell => ({ cpu: (await lab.sample(cell)).cpu / CALLS }),
    record: cells => lab.recordFigures(cells, [['cpu', 'µs/request', ({ cpu }) => cpu]])
  })
  await lab.stop(servers)
}
