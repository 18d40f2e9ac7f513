'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { Readable } = require('node:stream')
const { setTimeout: pause } = require('node:timers/promises')
const tls = require('node:tls')

const Kone = require('../../helpers/kone')
const { credentials, get } = require('./sides')

/** How the second of two requests ends its own response, which is not the current one yet. */
const OWN_FAULTS = {
  'a stream that fails at once': ctx => { ctx.body = failing([]) },
  'a stream that fails later': ctx => { ctx.body = failing(['half']) },
  'ctx.res.destroy()': ctx => { ctx.res.destroy() },
  'ctx.res.destroy() behind a piece': ctx => {
    ctx.respond = false
    ctx.res.write('half')
    ctx.res.destroy()
  }
}

/** And how it ends the connection of both. */
const FAULTS = {
  ...OWN_FAULTS,
  'ctx.req.destroy()': ctx => { ctx.req.destroy() },
  'ctx.socket.destroy()': ctx => { ctx.req.socket.destroy() },
  'ctx.socket.destroySoon()': ctx => { ctx.req.socket.destroySoon() },
  'ctx.socket.end()': ctx => { ctx.req.socket.end() },
  'server.closeAllConnections()': ctx => { ctx.req.socket.server.closeAllConnections() }
}

function failing (chunks) {
  return Readable.from((async function * () {
    yield * chunks
    throw new Error('broken')
  })())
}

/** When the first response ends → the faults of the second request. */
const ENDS = {
  'in the tick before': [FAULTS, end => end()],
  later: [OWN_FAULTS, end => { pause(45).then(end) }]
}

for (const isSecure of [false, true]) {
  for (const http1 of [true, false]) {
    describe(`a response in front of one that fails, ${http1 ? 'front' : 'node:http'}, ${isSecure ? 'TLS' : 'plain'}`, () => {
      for (const [when, [faults, end]] of Object.entries(ENDS)) {
        for (const [name, fault] of Object.entries(faults)) {
          it(`should arrive when it ends ${when}: ${name}`, async t => {
            let one = null
            const text = await run(t, { isSecure, http1 }, ctx => {
              if (one !== null) {
                end(() => one.outgoing.end('whole'))
                return fault(ctx)
              }
              one = ctx
              ctx.respond = false
              ctx.status = 200
            })
            assert.equal(text.match(/\r\n\r\n(.{5})/)?.[1], 'whole', text)
          })
        }
      }
    })
  }
}

/** What the client of two pipelined requests received, until 'whole' or the end. */
async function run (t, { isSecure, http1 }, handler) {
  const app = new Kone({ http1 })
  app.silent = true
  app.use(handler)
  const server = isSecure ? https.createServer(await credentials()) : http.createServer()
  app.attach(server).listen(0, '127.0.0.1')
  t.after(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')

  const to = { port: server.address().port, host: '127.0.0.1', rejectUnauthorized: false }
  const client = isSecure ? tls.connect(to) : net.connect(to)
  client.on('error', () => {}) // a reset, behind the response
  client.write(get('/first') + get('/second'))
  let text = ''
  // From Node 24 on node leaves the connection open when a queued response was destroyed.
  await new Promise(resolve => client.setEncoding('latin1').on('close', resolve).on('data', chunk => {
    text += chunk
    if (text.includes('whole')) resolve()
  }))
  client.destroy()
  return text
}
