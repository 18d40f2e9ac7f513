'use strict'

const { once } = require('node:events')
const http = require('node:http')
const request = require('./request')

/**
 * How many of some requests made node's own `req` or `res` on kone's front.
 *
 *    const count = await materialised(app, async ask => {
 *      await ask('GET /')
 *      await ask('GET /', { cookie: 'a=b' })
 *    })
 *    assert.deepEqual(count, { requests: 2, materialised: 0 })
 */
module.exports = async function materialised (app, visit) {
  const count = { requests: 0, materialised: 0 }
  app.on('finish', ctx => {
    count.requests++
    // of the front's own objects, `req` and `res` are what they were made into
    if (ctx.incoming.req !== null || ctx.outgoing.res !== null) count.materialised++
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new http.Agent({ keepAlive: true })
  try {
    await visit((line, headers, body) => request(server.address().port, line, { agent, headers, body }))
    return count
  } finally {
    agent.destroy()
    server.close()
    server.closeAllConnections()
  }
}
